import type { FileSigns, TextSign } from './file-signs.ts'
import {
  extensionOf,
  extensionOfType,
  readType,
  structureOf,
  typeOfExtension,
  unknownType,
} from './file-types.ts'

/** What is said of a file. The sayings of each kind are in the order of their weight. */
export type FileEvidence = {
  signs: FileSigns
  /** Names that were given to the file, without folders. */
  names?: (string | null | undefined)[]
  /** Types that were declared for it. */
  claims?: (string | null | undefined)[]
  /** Names that may be those of a program that made the file, such as in a URL. */
  hints?: (string | null | undefined)[]
}

export type FileType = { mime: string; extension: string | undefined }

/**
 * The type of a file. What its bytes show wins where a name or a claim contradicts it. Where they show only a container (a ZIP
 * may be a spreadsheet), a few letters, or that it is text, the first name or claim that fits them does.
 */
export function weighType({ signs, names = [], claims = [], hints = [] }: FileEvidence): FileType {
  const found = signs.mime
  if (found && !isLoose(found)) return typeOf(found, signs.extension)
  const said = [
    ...names.map(byName),
    ...claims.map((claim) => byClaim(claim, signs)),
    ...hints.map(byHint),
  ].filter((type) => type !== undefined)
  const fitting = said.filter(({ mime }) => fits(mime, signs))
  const specific = fitting.find(({ mime }) => !isGeneral(mime))
  if (specific) return specific.mime === found ? typeOf(found, signs.extension) : specific
  const marked = signs.text && typesOfMarks[signs.text]
  if (found) return marked && found === 'application/xml' ? typeOf(marked) : typeOf(found, signs.extension)
  return fitting[0] ?? typeOf(marked ?? (signs.text ? 'text/plain' : unknownType))
}

const typesOfMarks: Partial<Record<TextSign, string>> = { html: 'text/html', svg: 'image/svg+xml' }

function typeOf(mime: string, extension = extensionOfType(mime.split(';')[0] ?? mime)): FileType {
  return { mime, extension }
}

function byName(name: string | null | undefined): FileType | undefined {
  const extension = extensionOf(name ?? '')
  const mime = typeOfExtension(extension)
  return mime === undefined ? undefined : { mime, extension }
}

/** Programs that make files say `text/html` when nobody has told them another type. */
function byClaim(claim: string | null | undefined, { text }: FileSigns): FileType | undefined {
  const mime = readType(claim)
  return mime && (mime !== 'text/html' || text === 'html') ? typeOf(mime) : undefined
}

/** The names of programs on web servers say nothing of the files that they make. */
const programs = /^(php\d?|phtml|aspx?|ashx|axd|jspx?|do|action|cgi|pl|py|rb|exe|dll|cfm|html?|xhtml)$/

export const isProgramName = (name: string) => programs.test(extensionOf(name) ?? '')

function byHint(name: string | null | undefined): FileType | undefined {
  return name && !isProgramName(name) ? byName(name) : undefined
}

/** It says less than any type that fits the same bytes. */
function isGeneral(mime: string): boolean {
  return /^(text\/plain|application\/(zip|x-cfb|xml|gzip|ogg))$/.test(mime) || mime === unknownType
}

const isText = (mime: string) => structureOf(mime) === 'text'
const isUnknown = (mime: string) => structureOf(mime) === 'unknown'
const isPlainZip = (mime: string) => mime === 'application/zip' || mime === 'application/java-archive'
const isOldOffice = (mime: string) => mime === 'application/vnd.ms-excel' || mime === 'application/msword'

/** Signatures that other types have too, with the types that fit them. A signature of two or three bytes is no proof. */
const loose: [signature: RegExp, fitting: (mime: string) => boolean][] = [
  [/^application\/(zip|java-archive)$/, (mime) => ['zip', 'unknown'].includes(structureOf(mime))],
  // An Office document with a password is one, too.
  [
    /^application\/x-cfb$/,
    (mime) => ['cfb', 'zip', 'unknown'].includes(structureOf(mime)) && !isPlainZip(mime),
  ],
  [/^application\/xml$/, (mime) => isText(mime) || isOldOffice(mime)],
  [/^application\/rtf$/, (mime) => mime === 'application/msword'],
  [/^application\/pdf$/, (mime) => mime === 'application/illustrator'],
  [/^application\/gzip$/, (mime) => isUnknown(mime) || mime === 'image/svg+xml'],
  [
    /^(video|audio)\/(mp4|quicktime|3gpp2?|x-m4[av]|mpeg4)$/,
    (mime) => /^(video|audio)\/(mp4|quicktime|3gpp2?|x-m4[av])$/.test(mime),
  ],
  [/^(video|audio)\/(webm|matroska)$/, (mime) => /^(video|audio)\/(webm|matroska)$/.test(mime)],
  [/^(video|audio|application)\/ogg\b/, (mime) => /^(video|audio)\/ogg$/.test(mime)],
  [/ms-asf$/, (mime) => /^(video|audio)\/x-ms-/.test(mime)],
  [/^image\/(tiff|x-.*)$/, (mime) => /^image\/(x-|tiff)/.test(mime) || isUnknown(mime)],
  [
    /^(image\/(bmp|jxl|x-icon|vnd\.ms-photo)|application\/(x-msdownload|x-compress|x-cpio|x-arj|x-apple-diskimage|x-bzip2|vnd\.iccprofile)|audio\/(vnd\.dolby\.dd-raw|mpeg|aac)|video\/mp2t)$/,
    isUnknown,
  ],
]

function isLoose(found: string): boolean {
  return loose.some(([signature]) => signature.test(found))
}

/** Whether a file with these signs may be of this type. */
export function fits(mime: string, { mime: found, text }: FileSigns): boolean {
  if (mime === found) return true
  if (found) return loose.some(([signature, fitting]) => signature.test(found) && fitting(mime))
  // Office opens pages and tables of text under its old extensions.
  if (text) return isText(mime) || isUnknown(mime) || isOldOffice(mime)
  return !isText(mime)
}
