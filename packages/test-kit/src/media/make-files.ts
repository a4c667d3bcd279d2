import { crc32, gzipSync } from 'node:zlib'
import { box, mp4 } from './hostile/mp4.ts'
import { mediaSamples } from './media-samples.ts'

/** Beginnings of files of many types: enough to tell what they are, too little to open them. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1')
const withTail = (head: Buffer | string) =>
  Buffer.concat([typeof head === 'string' ? bytesOf(head) : head, Buffer.alloc(600, '\x01\x80')])

function zipOf(entries: Record<string, string>): Buffer {
  const parts = Object.entries(entries).map(([name, text]) => {
    const content = Buffer.from(text)
    const head = Buffer.alloc(30)
    head.write('PK\x03\x04\x14\0', 'latin1')
    head.writeUInt32LE(crc32(content), 14)
    head.writeUInt32LE(content.length, 18)
    head.writeUInt32LE(content.length, 22)
    head.writeUInt16LE(name.length, 26)
    return Buffer.concat([head, bytesOf(name), content])
  })
  return Buffer.concat([...parts, bytesOf(`PK\x05\x06${'\0'.repeat(18)}`)])
}

const office = (kind: string, name: string) =>
  zipOf({
    '[Content_Types].xml': `<Types><Override PartName="/${name}" ContentType="application/vnd.openxmlformats-officedocument.${kind}.main+xml"/></Types>`,
    [name]: '<x/>',
  })

function riff(kind: string): Buffer {
  const head = bytesOf(`RIFF\0\x10\0\0${kind}`)
  return Buffer.concat([head, Buffer.alloc(64, 1)])
}

/** EBML with its kind of document. */
function ebml(kind: string): Buffer {
  const type = Buffer.concat([Buffer.from([0x42, 0x82, 0x80 | kind.length]), bytesOf(kind)])
  return withTail(Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80 | type.length]), type]))
}

const ogg = (codec: string) => withTail(`OggS\0\x02${'\0'.repeat(20)}\x01\x13${codec}`)
const sampleOf = (type: 'image' | 'document') =>
  mediaSamples.find((sample) => sample.type === type)?.bytes ?? Buffer.alloc(0)

export const files = {
  png: sampleOf('image'),
  pdf: sampleOf('document'),
  latePdf: Buffer.concat([bytesOf('\r\n\r\n'), sampleOf('document')]),
  jpeg: withTail('\xff\xd8\xff\xe0\0\x10JFIF\0'),
  gif: withTail('GIF89a\x01\0\x01\0'),
  webp: riff('WEBPVP8 '),
  wav: riff('WAVEfmt '),
  avi: riff('AVI LIST'),
  corelDraw: riff('CDRvvrsn'),
  bmp: withTail('BM\x36\x10\x0e\0\0\0\0\0\x36\0\0\0'),
  tiff: withTail('II*\0\x08\0\0\0'),
  psd: withTail('8BPS\0\x01\0\0'),
  dwg: withTail('AC1032\0\0\0\0'),
  exe: withTail('MZ\x90\0\x03\0\0\0'),
  gzip: Buffer.concat([gzipSync('x'), Buffer.alloc(16)]),
  sevenZip: withTail('7z\xbc\xaf\x27\x1c\0\x04'),
  rar: withTail('Rar!\x1a\x07\x01\0'),
  sqlite: withTail('SQLite format 3\0'),
  mp3WithTag: Buffer.concat([bytesOf('ID3\x03\0\0\0\0\0\0'), Buffer.alloc(4), withTail('\xff\xfb\x90\0')]),
  flac: withTail('fLaC\0\0\0\x22'),
  amr: withTail('#!AMR\n\x3c'),
  aac: withTail('\xff\xf1\x50\x40\x01\x1f\xfc\0'),
  opus: ogg('OpusHead'),
  vorbis: ogg('\x01vorbis'),
  webm: ebml('webm'),
  matroska: ebml('matroska'),
  cfb: withTail('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0\0\0'),
  zip: zipOf({ 'a.txt': 'a' }),
  docx: office('wordprocessingml.document', 'word/document.xml'),
  xlsx: office('spreadsheetml.sheet', 'xl/workbook.xml'),
  pptx: office('presentationml.presentation', 'ppt/presentation.xml'),
  odt: zipOf({ mimetype: 'application/vnd.oasis.opendocument.text' }),
  epub: zipOf({ mimetype: 'application/epub+zip' }),
  jar: zipOf({ 'META-INF/MANIFEST.MF': 'Manifest-Version: 1.0\n' }),
  kmz: zipOf({ 'doc.kml': '<kml/>' }),
  mp4: mp4('mp42', box('mdat', Buffer.alloc(100))),
  isom: mp4('isom', box('mdat', Buffer.alloc(100))),
  m4a: mp4('M4A ', box('mdat', Buffer.alloc(100))),
  mov: mp4('qt  ', box('mdat', Buffer.alloc(100))),
  threeGp: mp4('3gp4', box('mdat', Buffer.alloc(100))),
  heic: mp4('heic', box('meta', Buffer.alloc(100))),
  avif: mp4('avif', box('meta', Buffer.alloc(100))),
  binary: Buffer.concat([Buffer.from([0x9e, 0, 1, 2, 3]), Buffer.alloc(600, '\x02\x90')]),
  rtf: bytesOf('{\\rtf1\\ansi Hello}'),
  vcard: bytesOf('BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\r\nEND:VCARD\r\n'),
  calendar: bytesOf('BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n'),
  csv: bytesOf('a,b\n1,2\n'),
  csvOfBmi: bytesOf('BMI;age\n22;40\n'),
  csvOfMz: bytesOf('MZ;code\n1;2\n'),
  csvOfPk: bytesOf('PK;name\n1;x\n'),
  csvOfId3: bytesOf('ID3;name\n1;x\n'),
  csvOfGif: bytesOf('GIF;JPG\n1;2\n'),
  csvOfTiff: bytesOf('II*;III\n1;2\n'),
  csvInLatin1: bytesOf('BMI;Gr\xf6\xdfe\n22;180\n'),
  csvInCyrillic: Buffer.from('c8ecff3bc2eee7f0e0f1f20ac0edede03b3330', 'hex'),
  csvInUtf16: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('BMI\tGröße\r\n22\t180\r\n', 'utf16le')]),
  csvInUtf16WithoutMark: Buffer.from('BMI\tsize\r\n22\t180\r\n', 'utf16le'),
  csvWithMark: Buffer.from('\ufeffName;Größe\n'),
  tex: bytesOf('%!TEX root = main.tex\n\\documentclass{article}\n'),
  postscript: bytesOf('%!PS-Adobe-3.0\n%%EOF\n'),
  html: bytesOf('<!DOCTYPE html>\n<html><body>Hello</body></html>'),
  htmlTable: bytesOf('\r\n<table border="1"><tr><td>1</td></tr></table>'),
  xhtml: bytesOf('<?xml version="1.0"?>\n<!-- x -->\n<html xmlns="http://www.w3.org/1999/xhtml"/>'),
  xml: bytesOf('<?xml version="1.0"?>\n<order/>'),
  svg: bytesOf('<svg xmlns="http://www.w3.org/2000/svg"/>'),
  svgWithHead: bytesOf('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>'),
  json: bytesOf('{"a":1}'),
  markdown: bytesOf('# Title\n\nText\n'),
  text: bytesOf('Just text.\n'),
} satisfies Record<string, Buffer>

export type FileName = keyof typeof files
