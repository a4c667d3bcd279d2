import { expect, test } from 'vitest'
import { filenameOfDisposition } from '../src/media/content-disposition.ts'

/** As Node gives it: a character for each byte. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1')

test.each([
  ['attachment', undefined],
  ['', undefined],
  ['attachment; filename=', undefined],
  ['attachment; filename=""', undefined],
  ['attachment; filename=invoice.pdf', 'invoice.pdf'],
  ['attachment;filename=invoice.pdf;size=7', 'invoice.pdf'],
  ['inline; filename="Invoice 12-2026.pdf"', 'Invoice 12-2026.pdf'],
  ['attachment; filename=Invoice 12-2026.pdf', 'Invoice 12-2026.pdf'],
  ['attachment; FILENAME = "a.pdf"', 'a.pdf'],
  ['filename="a.pdf"', 'a.pdf'],
  ['attachment; filename="a \\"b\\" c.pdf"', 'a "b" c.pdf'],
  ['attachment; filename="C:\\files\\a.pdf"', 'C:\\files\\a.pdf'],
  ['attachment; filename="a;b=c.pdf"; x=y', 'a;b=c.pdf'],
  ['attachment; filename="not closed.pdf', 'not closed.pdf'],
  ['attachment; filename="a.pdf"; filename*=UTF-8\'\'gr%C3%BC%C3%9Fe.pdf', 'grüße.pdf'],
  ['attachment; filename*=utf-8\'de\'gr%C3%BC%C3%9Fe.pdf; filename="a.pdf"', 'grüße.pdf'],
  ["attachment; filename*=ISO-8859-1''gr%FC%DFe.pdf", 'grüße.pdf'],
  ["attachment; filename*=windows-1251''%F1%F7%E5%F2.pdf", 'счет.pdf'],
  ['attachment; filename="a.pdf"; filename*=unknown\'\'%FC.pdf', 'a.pdf'],
  ["attachment; filename*=UTF-8''gr%FC%DFe.pdf", 'grüße.pdf'],
  ['attachment; filename="gr\xfc\xdfe.pdf"', 'grüße.pdf'],
  [utf8('attachment; filename="grüße €.pdf"'), 'grüße €.pdf'],
  [utf8('attachment; filename="請求書.pdf"'), '請求書.pdf'],
  ['attachment; filename="gr%C3%BC%C3%9Fe%20a.pdf"', 'grüße a.pdf'],
  ['attachment; filename="100% sure.pdf"', '100% sure.pdf'],
  ['attachment; filename="%FC.pdf"', '%FC.pdf'],
  ['attachment; filename="=?UTF-8?B?Z3LDvMOfZS5wZGY=?="', 'grüße.pdf'],
  ['attachment; filename="=?iso-8859-1?Q?gr=FC=DFe_a.pdf?="', 'grüße a.pdf'],
  ['attachment; filename="=?UTF-8?Q?gr=C3=BC?= =?UTF-8?Q?=C3=9Fe.pdf?="', 'grüße.pdf'],
  ['attachment; filename="=?nonsense?Q?a?="', '=?nonsense?Q?a?='],
  ['attachment; xfilename=a.pdf', undefined],
])('%j names the file %j', (header, name) => {
  expect(filenameOfDisposition(header)).toBe(name)
})

test('a hostile header takes no more time than any other', () => {
  for (const piece of ['"', '\\', ';filename=', '=?utf-8?q?', '%', "filename*=a'"]) {
    const startedAt = performance.now()
    filenameOfDisposition(`attachment; filename="${piece.repeat(100_000 / piece.length)}`)
    expect([piece, performance.now() - startedAt < 200]).toEqual([piece, true])
  }
})
