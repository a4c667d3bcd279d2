import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

let gateway: Gateway
let account: Awaited<ReturnType<typeof createSender>>['account']
let sender: string
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
  ;({ account, sender } = await createSender(gateway))
})
afterAll(() => gateway.close())

const number = '15552084401'
const post = (path: string, body: FormData) => account.request(path, { method: 'POST', body })
const fieldsOf = (fields: Record<string, string>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}
const fileOf = async (id: string) => {
  const [stored] = await gateway.db.$client<{ bytes: Buffer }[]>`
    SELECT bytes FROM media_blobs WHERE message_id = ${id}`
  return stored?.bytes
}
const newest = async () => (await storedOf(account))[0]

describe('a file in a form', () => {
  const pdf = new Blob(['%PDF-1.4\n%%EOF\n'], { type: 'application/pdf' })
  const address = () => ({ sender, number, type: 'document' })

  test('is sent with its name', async () => {
    const form = fieldsOf({ ...address(), caption: 'Your invoice', url: '', filename: '' })
    form.append('file', pdf, 'Rechnung März.pdf')
    expect(await post('/send-media', form)).toMatchObject({ status: 200, body: { ok: true } })
    expect(await newest()).toMatchObject({ url: 'data:application/pdf', caption: 'Your invoice' })
  })

  test('of megabytes arrives as it was', async () => {
    const bytes = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(3 * 2 ** 20 + 1, 'x')])
    const form = fieldsOf(address())
    form.append('document', new Blob([bytes]), 'a.pdf')
    const { body } = await post('/send-media', form)
    expect(await fileOf(String(body.message_id))).toSatisfy((stored: Buffer) => stored.equals(bytes))
  })

  test('is one file, and nothing beside it', async () => {
    const two = fieldsOf(address())
    two.append('a', pdf, 'a.pdf')
    two.append('b', pdf, 'b.pdf')
    expect((await post('/send-media', two)).body).toMatchObject({ details: [{ parameter: 'b' }] })
    const both = fieldsOf({ ...address(), url: 'https://example.com/a.pdf' })
    both.append('file', pdf, 'a.pdf')
    expect((await post('/send-media', both)).body).toMatchObject({
      code: 'invalid_parameter',
      details: [{ parameter: 'url', message: 'cannot be given together with a file' }],
    })
    const unchosen = fieldsOf({ ...address(), url: 'https://example.com/a.pdf' })
    unchosen.append('file', new Blob([]), '')
    expect((await post('/send-media', unchosen)).status).toBe(200)
  })

  test('is refused above the size of a body', async () => {
    const form = fieldsOf(address())
    form.append('file', new Blob([Buffer.alloc(25 * 2 ** 20)]), 'a.pdf')
    expect(await post('/send-media', form)).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    })
  })
})
