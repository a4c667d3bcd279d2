import mime from 'mime'

/** Spellings of one type. */
const canonical: Record<string, string> = {
  'application/csv': 'text/csv',
  'application/x-csv': 'text/csv',
  'text/comma-separated-values': 'text/csv',
  'text/x-csv': 'text/csv',
  'application/x-pdf': 'application/pdf',
  'application/x-zip': 'application/zip',
  'application/x-zip-compressed': 'application/zip',
  'application/x-gzip': 'application/gzip',
  'application/x-rar-compressed': 'application/vnd.rar',
  'application/x-rtf': 'application/rtf',
  'text/rtf': 'application/rtf',
  'text/xml': 'application/xml',
  'text/json': 'application/json',
  'application/x-json': 'application/json',
  'text/x-vcard': 'text/vcard',
  'text/directory': 'text/vcard',
  'text/x-markdown': 'text/markdown',
  'application/excel': 'application/vnd.ms-excel',
  'application/x-excel': 'application/vnd.ms-excel',
  'application/x-msexcel': 'application/vnd.ms-excel',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-ms-bmp': 'image/bmp',
  'image/heif': 'image/heic',
  'image/heif-sequence': 'image/heic',
  'image/heic-sequence': 'image/heic',
  'audio/mp3': 'audio/mpeg',
  'audio/x-mp3': 'audio/mpeg',
  'audio/x-mpeg': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/x-aac': 'audio/aac',
  'audio/opus': 'audio/ogg',
  'audio/x-matroska': 'audio/matroska',
  'video/x-matroska': 'video/matroska',
}

/** Where the library knows another type, none, or one that says nothing. */
const typesOfExtensions: Record<string, string> = {
  aab: 'application/zip',
  arw: 'image/x-sony-arw',
  ai: 'application/illustrator',
  cr2: 'image/x-canon-cr2',
  dll: 'application/x-msdownload',
  doc: 'application/msword',
  exe: 'application/x-msdownload',
  flac: 'audio/flac',
  har: 'application/json',
  ipa: 'application/zip',
  jsonl: 'application/jsonl',
  mpp: 'application/vnd.ms-project',
  msi: 'application/x-msi',
  ndjson: 'application/x-ndjson',
  nef: 'image/x-nikon-nef',
  ofx: 'application/x-ofx',
  py: 'text/x-python',
  sqlite: 'application/x-sqlite3',
  tgz: 'application/gzip',
  vcf: 'text/vcard',
}

const ownExtensions = new Map(Object.entries(typesOfExtensions).map(([extension, type]) => [type, extension]))

/** The extension to give, where the library's first one is not the usual one. */
const extensionsOfTypes: Record<string, string> = {
  'application/gzip': 'gz',
  'application/msword': 'doc',
  'application/rtf': 'rtf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/x-msdownload': 'exe',
  'application/xml': 'xml',
  'audio/flac': 'flac',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/wav': 'wav',
  'audio/x-m4a': 'm4a',
  'image/heic': 'heic',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'text/vcard': 'vcf',
  'video/matroska': 'mkv',
  'video/quicktime': 'mov',
}

export const unknownType = 'application/octet-stream'

/** What servers and programs say when they know nothing of a file. */
const emptyClaims =
  /^(application\/(octet-stream|octetstream|(x-)?(binary|unknown|download|force-?download|www-form-urlencoded|forcedownload)|x-octet-stream|data)|binary\/octet-stream|unknown\/.*|multipart\/.*|content\/unknown|\*\/\*)$/

/** Lower case, without parameters, in one spelling. Undefined for what is no type, or says nothing. */
export function readType(claim: string | null | undefined): string | undefined {
  const plain = claim?.slice(0, 200).split(';')[0]?.trim().toLowerCase() ?? ''
  if (!/^[a-z]+\/[a-z0-9][a-z0-9.+_-]{0,126}$/.test(plain) || emptyClaims.test(plain)) return undefined
  return canonical[plain] ?? plain
}

/** What a name ends with after its last dot, in lower case: letters and digits, a letter among them. */
export function extensionOf(name: string): string | undefined {
  const [, found] = /[^.\s]\.([a-z0-9_-]{1,12})$/i.exec(name) ?? []
  return found && /[a-z]/i.test(found) ? found.toLowerCase() : undefined
}

/** Undefined for an extension that stands for no type. */
export function typeOfExtension(extension: string | undefined): string | undefined {
  if (extension === undefined) return undefined
  return typesOfExtensions[extension] ?? readType(mime.getType(extension))
}

/** The usual one, without a dot. */
export function extensionOfType(type: string): string | undefined {
  if (type === unknownType) return undefined
  return extensionsOfTypes[type] ?? mime.getExtension(type) ?? ownExtensions.get(type)
}

/** What a file of a type is made of. `own`: it begins with a signature of its own. */
export type Structure = 'text' | 'zip' | 'cfb' | 'own' | 'unknown'

const texts =
  /^text\/|[+/](xml|json|yaml|toml|sql|jsonl|javascript|ecmascript|x-(ndjson|sh|subrip|tex|latex|httpd-php|perl|ofx|yaml|python|x509-ca-cert|pem-file))$|\+(xml|json)$|^application\/(pgp-(keys|signature)|x-mpegurl|vnd\.apple\.mpegurl|xml-dtd|x-ms-regedit|postscript)$|^audio\/x-mpegurl$|^message\/|^image\/vnd\.dxf$/
const zips =
  /openxmlformats-|oasis\.opendocument|macroenabled|\+zip$|^application\/(zip|java-archive|x-java-archive|vnd\.(google-earth\.kmz|android\.package-archive|apple\.(pages|numbers|keynote|pkpass)|ms-xpsdocument|comicbook\+zip)|oxps|x-cbz)$/
const compoundFiles =
  /^application\/(x-cfb|msword|vnd\.(ms-(excel|powerpoint|outlook|project|works|publisher)|visio)|x-(mspublisher|msi|hwp|ms-installer))$/
const ownSignatures =
  /^(image\/(?!x-|vnd\.)|audio\/|video\/|font\/)|^application\/(pdf|rtf|gzip|vnd\.rar|x-7z-compressed|x-bzip2|x-xz|ogg|x-msdownload|x-sqlite3|wasm|dicom|zstd)$/

export function structureOf(type: string): Structure {
  if (texts.test(type)) return 'text'
  if (zips.test(type)) return 'zip'
  if (compoundFiles.test(type)) return 'cfb'
  return ownSignatures.test(type) ? 'own' : 'unknown'
}
