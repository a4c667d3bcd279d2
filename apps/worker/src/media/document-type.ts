/** Types that cannot be recognised by their bytes, or that are too common to depend on that. */
const extensions: Record<string, string> = {
  'application/json': 'json',
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/rtf': 'rtf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/xml': 'xml',
  'application/zip': 'zip',
  'image/svg+xml': 'svg',
  'text/calendar': 'ics',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'text/vcard': 'vcf',
  'text/xml': 'xml',
}

export type DocumentType = { mime: string; extension: string | undefined }

const unknown: DocumentType = { mime: 'application/octet-stream', extension: undefined }

/** By the bytes, otherwise by the claim of a data: URL, otherwise by the name of the file. */
export function documentType(
  found: { mime?: string | undefined; extension?: string | undefined },
  claimedMime: string | undefined,
  name: string | undefined,
): DocumentType {
  if (found.mime) return { mime: found.mime, extension: found.extension }
  if (claimedMime && claimedMime !== unknown.mime) {
    return { mime: claimedMime, extension: extensions[claimedMime] }
  }
  return typeOfName(name) ?? unknown
}

function typeOfName(name: string | undefined): DocumentType | undefined {
  const extension = name?.includes('.') ? name.split('.').at(-1)?.toLowerCase() : undefined
  const [mime] = Object.entries(extensions).find(([, known]) => known === extension) ?? []
  return mime ? { mime, extension } : undefined
}
