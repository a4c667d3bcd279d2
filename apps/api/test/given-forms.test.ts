import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner, storedOf } from './gateway.ts'

let gateway: Gateway
let account: Awaited<ReturnType<typeof createSender>>['account']
let sender: string
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
  await recordMasterKey(gateway.db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
  ;({ account, sender } = await createSender(gateway))
})
afterAll(() => gateway.close())

const number = '15552084402'
const formType = 'application/x-www-form-urlencoded'
const post = (path: string, body: string | Uint8Array | FormData, type?: string) =>
  account.request(path, { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) })
const fieldsOf = (fields: Record<string, string>) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}
const newest = async () => (await storedOf(account))[0]

describe('an empty value counts as not given', () => {
  const templated = {
    caption: '',
    filename: '',
    send_at: '',
    wait: '',
    typing: '',
    lid: '',
    reply_to: '',
    media_id: '',
    idempotency_key: '',
  }
  const file = { type: 'document', url: 'https://example.com/a.pdf' }

  test.each([
    ['a query', (given: Record<string, string>) => account.get('/send-media', given)],
    ['JSON', (given: Record<string, string>) => account.post('/send-media', given)],
    [
      'JSON as null',
      (given: Record<string, string>) =>
        account.post(
          '/send-media',
          Object.fromEntries(Object.entries(given).map(([n, v]) => [n, v || null])),
        ),
    ],
    [
      'a form',
      (given: Record<string, string>) => post('/send-media', `${new URLSearchParams(given)}`, formType),
    ],
    ['a form in parts', (given: Record<string, string>) => post('/send-media', fieldsOf(given))],
  ])('in %s', async (_, send) => {
    const answer = await send({ sender, number, ...file, ...templated })
    expect(answer).toMatchObject({ status: 200, body: { ok: true, status: 'queued' } })
    expect(answer.body).not.toHaveProperty('warnings')
    expect(await newest()).toMatchObject({ caption: null, url: file.url })
  })

  test('and a required one is missing', async () => {
    expect(await account.post('/send-message', { sender, number, message: '' })).toMatchObject({
      status: 400,
      body: { code: 'missing_parameter', error: 'message is required' },
    })
  })

  test('so it clears nothing', async () => {
    await account.post('/set-device', { sender, name: 'Shop', rate_per_minute: 30 })
    await account.post('/set-device', { sender, name: '', rate_per_minute: 20 })
    expect((await account.get('/info-device', { sender })).body).toMatchObject({
      name: 'Shop',
      rate_per_minute: 20,
    })
  })
})

describe('a list', () => {
  test.each([
    'types=message.sent,message.read',
    'types=message.sent,+message.read,',
    'types=message.sent&types=message.read',
    'types[]=message.sent&types[]=message.read',
    'types[0]=message.sent&types[1]=message.read',
    'types=["message.sent","message.read"]',
  ])('may be %s', async (written) => {
    const url = 'https://example.com/hook'
    const ways = [
      await account.get(`/set-webhook?url=${url}&${encodeURI(written)}`),
      await post('/set-webhook', `url=${url}&${written}`, formType),
    ]
    for (const { body } of ways) {
      expect(body).toMatchObject({ types: ['message.sent', 'message.read'] })
      expect(body).not.toHaveProperty('warnings')
      await account.post('/delete-webhook', { webhook_id: body.webhook_id })
    }
  })

  test('names the unknown item, and the type that was probably meant', async () => {
    const { body } = await account.get('/events', { types: 'message.sent,message.recieved' })
    expect(body.error).toBe(
      'types has message.recieved, which is not a type of event: did you mean message.received?',
    )
  })
})

describe('a failure names the parameters that the operation does not have', () => {
  const given = { sender, to: number, text: 'Hello' }
  const said = 'unknown: to, text: did you mean number, message?'

  test.each([
    ['GET', () => account.get('/send-message', { ...given, sender })],
    ['JSON', () => account.post('/send-message', { ...given, sender })],
    ['form', () => post('/send-message', `sender=${sender}&to=1&text=Hello`, formType)],
    ['parts', () => post('/api/send-message', fieldsOf({ ...given, sender }))],
  ])('of %s', async (_, send) => {
    expect(await send()).toMatchObject({
      status: 400,
      body: {
        code: 'missing_parameter',
        error: expect.stringContaining(said),
        warnings: [
          'Unknown parameter "to" was ignored. Did you mean number?',
          'Unknown parameter "text" was ignored. Did you mean message?',
        ],
      },
    })
  })

  test('also when it is for another reason', async () => {
    const { body } = await account.post('/message-status', {
      message_id: '019c13f5-6a3c-7bd2-9d2f-3f6a52b1c7e4',
      messageId: 1,
    })
    expect(body).toMatchObject({
      code: 'message_not_found',
      warnings: [expect.stringContaining('"messageId"')],
    })
  })

  test('and asks for none that was given', async () => {
    const { body } = await account.post('/send-message', { sender, number, to: number })
    expect(body.error).toBe('message is required; unknown: to')
  })
})

describe('a text in another encoding is refused, and its parameter named', () => {
  const expected = { code: 'invalid_parameter', details: [{ parameter: 'message' }] }
  const form = `sender=${'15552084403'}&number=${number}&message=`

  test.each(['caf%E9', '%FF', '%C3', 'a%ED%A0%80', '%EF%BF%BD%E9'])('%s', async (message) => {
    expect((await post('/send-message', form + message, formType)).body).toMatchObject(expected)
    expect((await account.get(`/send-message?${form}${message}`)).body).toMatchObject(expected)
  })

  test('in a part', async () => {
    const part = (value: Buffer, type = '') =>
      Buffer.concat([
        Buffer.from(`--x\r\nContent-Disposition: form-data; name="message"\r\n${type}\r\n`),
        value,
        Buffer.from('\r\n--x--\r\n'),
      ])
    const latin = Buffer.from('caf\xe9', 'latin1')
    const type = 'Content-Type: text/plain; charset=iso-8859-1\r\n'
    for (const body of [part(latin), part(latin, type), part(Buffer.from('cafe'), type)]) {
      const answer = await post('/send-message', body, 'multipart/form-data; boundary=x')
      expect(answer.body).toMatchObject(expected)
    }
  })

  test.each(['100%', '%', '%zz', 'caf%C3%A9', '\ufffd', '%EF%BF%BD', '%F0%9F%98%80', '%2B49 %20'])(
    'but not %s',
    async (message) => {
      const own = form.replace('15552084403', sender)
      expect(await post('/send-message', own + message, formType)).toMatchObject({ status: 200 })
      expect((await newest())?.message).toBe(new URLSearchParams(`x=${message}`).get('x'))
    },
  )

  test('raw in a URL is told how to be written', async () => {
    const { port, hostname } = new URL(gateway.url)
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname).setEncoding('utf8').on('error', reject)
      socket.on('data', (text) => resolve(String(text)))
      socket.end('GET /send-message?message=café HTTP/1.1\r\nHost: localhost\r\n\r\n')
    })
    expect(answer).toContain('Encode it in UTF-8: a space as %20, é as %C3%A9.')
  })
})

test.each([
  ['text/plain', 'not text/plain. Send a JSON object'],
  ['', 'there is no Content-Type. Send a JSON object'],
  ['application/json; charset=utf-16', 'The body must be in UTF-8, not in utf-16.'],
])('a body of the type %j is refused', async (type, sentence) => {
  const body = new TextEncoder().encode(type.includes('json') ? '{}' : 'sender=1')
  const answer = await post('/user-info', body, type)
  expect(answer).toMatchObject({ status: 415, body: { error: expect.stringContaining(sentence) } })
})

test.each([
  '--x',
  '--x\r\n',
  '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb',
  'nonsense',
  '--xyz--',
])('a form in parts is refused when it is %j', async (body) => {
  const answer = await post('/user-info', body, 'multipart/form-data; boundary=x')
  expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_json' } })
})
