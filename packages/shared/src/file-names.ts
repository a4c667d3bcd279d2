import { type FileType, fits, isProgramName } from './file-evidence.ts'
import type { FileSigns } from './file-signs.ts'
import { extensionOf, extensionOfType, structureOf, typeOfExtension, unknownType } from './file-types.ts'

/** The file systems of phones have room for 255 bytes. */
const nameBytesMax = 240
const extensionCharsMax = 12
const givenCharsMax = 4000

/**
 * A name that any phone can store and show: one line, in its own direction, without folders. Slashes that are part of a
 * name become `_`. Undefined when nothing is left.
 */
export function cleanFilename(given: string | null | undefined): string | undefined {
  const visible = (given ?? '').slice(-givenCharsMax).toWellFormed().replaceAll(invisible, '')
  const name = withoutFolders(visible.trim()).replaceAll(/[\\/]/g, '_').replaceAll(/\s+/g, ' ')
  const trimmed = name
    .trim()
    .replace(/^[.\s]+/, '')
    .replace(/[.\s]+$/, '')
  return shorten(trimmed) || undefined
}

/**
 * Control characters, line breaks, and characters without a shape, such as those that change the direction of the text. Those
 * that join letters and emoji stay.
 */
const invisible = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Of a path. A name with a slash, such as `Invoice 12/2026.pdf`, is none. */
function withoutFolders(name: string): string {
  const path = name.replace(/[\\/\s]+$/, '')
  const isPath = /^([\\/]|[a-z]:[\\/]|\.{1,2}[\\/]|~[\\/])/i.test(path) || /[\\/]\.\.[\\/]/.test(path)
  return isPath ? (path.split(/[\\/]/).at(-1) ?? '') : path
}

/** Its extension stays. */
function shorten(name: string): string {
  if (Buffer.byteLength(name) <= nameBytesMax) return name
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 && name.length - dot <= extensionCharsMax + 1 ? name.slice(dot) : ''
  let bytes = Buffer.byteLength(ending)
  let kept = ''
  for (const character of name) {
    bytes += Buffer.byteLength(character)
    if (bytes > nameBytesMax) break
    kept += character
  }
  return `${kept.trimEnd()}${ending}`
}

/**
 * The name with an extension that fits the type of the file. One that fits is left, and so is any other where the type is as
 * general as plain text. In a `hint`, such as the path of a URL, the extension of a program gives way.
 */
export function completeFilename(
  name: string,
  { mime, extension }: FileType,
  { signs = {}, isHint = false }: { signs?: FileSigns; isHint?: boolean } = {},
): string {
  const own = extensionOf(name)
  if (own !== undefined && isFitting(own, mime, signs)) return name
  const wanted = extension ?? extensionOfType(mime)
  if (wanted === undefined || wanted === own) return name
  const stem = isHint && own !== undefined && isProgramName(name) ? name.slice(0, -own.length - 1) : name
  return shorten(`${stem}.${wanted}`)
}

function isFitting(own: string, mime: string, signs: FileSigns): boolean {
  if (isGeneral(mime)) return true
  const type = typeOfExtension(own)
  if (type === undefined) return false
  const [plain = mime] = mime.split(';')
  if (type === plain || extensionOfType(plain) === own) return true
  return (
    fits(type, { ...signs, mime: signs.mime ?? plain }) ||
    (structureOf(plain) === 'text' && type === 'text/plain')
  )
}

const isGeneral = (mime: string) =>
  mime === unknownType || /^(text\/plain|application\/(zip|x-cfb|xml|gzip))$/.test(mime)
