import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cleanFilename, completeFilename } from '../src/file-names.ts'

it.each([
  ['report.pdf', 'report.pdf'],
  ['Invoice 12/2026.pdf', 'Invoice 12_2026.pdf'],
  ['a\\b.pdf', 'a_b.pdf'],
  ['AC/DC.mp3', 'AC_DC.mp3'],
  ['../../etc/passwd', 'passwd'],
  ['/etc/passwd', 'passwd'],
  ['a/../../b.txt', 'b.txt'],
  ['C:\\Windows\\a.exe', 'a.exe'],
  ['~/a.txt', 'a.txt'],
  ['a/', 'a'],
  ['..', undefined],
  ['/', undefined],
  ['\u202E', undefined],
  ['.htaccess', 'htaccess'],
  ['name. . ', 'name'],
  ['a\u0000\r\nb.txt', 'ab.txt'],
  ['a\u2028b.txt', 'ab.txt'],
  ['a   b.txt', 'a b.txt'],
  ['photo\u202Egpj.exe', 'photogpj.exe'],
  ['\u2066a\u2069.pdf', 'a.pdf'],
  ['\ufeffa.pdf', 'a.pdf'],
  ['👨‍👩‍👧.pdf', '👨‍👩‍👧.pdf'],
  ['می‌خواهم.pdf', 'می‌خواهم.pdf'],
  ['a\ud800.pdf', 'a\ufffd.pdf'],
  [`${'x'.repeat(400)}.pdf`, `${'x'.repeat(236)}.pdf`],
  [`${'ü'.repeat(300)}.docx`, `${'ü'.repeat(117)}.docx`],
  ['', undefined],
  [null, undefined],
])('the name %j becomes %j', (given, cleaned) => {
  expect(cleanFilename(given)).toBe(cleaned)
})

it('a clean name is one line that any file system can store, and stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (given) => {
      const cleaned = cleanFilename(given)
      if (cleaned === undefined) return
      expect(cleaned).not.toMatch(/[\\/\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u)
      expect(Buffer.byteLength(cleaned)).toBeLessThanOrEqual(240)
      expect(cleanFilename(cleaned)).toBe(cleaned)
    }),
  )
})

it.each([
  ['invoice', 'application/pdf', 'invoice.pdf'],
  ['report.final', 'application/pdf', 'report.final.pdf'],
  ['report.PDF', 'application/pdf', 'report.PDF'],
  ['No. 7', 'application/pdf', 'No. 7.pdf'],
  ['v1.2', 'application/zip', 'v1.2.zip'],
  ['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
  ['voice.opus', 'audio/ogg; codecs=opus', 'voice.opus'],
  ['notes.conf', 'text/plain', 'notes.conf'],
  ['data', 'application/octet-stream', 'data'],
  ['contact.txt', 'text/vcard', 'contact.txt'],
  [`${'x'.repeat(240)}`, 'application/pdf', `${'x'.repeat(236)}.pdf`],
])('%s of the type %s is called %s', (name, mime, completed) => {
  expect(completeFilename(name, { mime, extension: undefined })).toBe(completed)
})
