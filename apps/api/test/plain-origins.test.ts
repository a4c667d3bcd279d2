import { randomBytes } from 'node:crypto'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { expect, test } from 'vitest'
import { type Gateway, randomPhone, startGateway } from './gateway.ts'

const http = 'http://shop.example.com/hook'
const https = 'https://shop.example.com/hook'

async function startWith(env: Record<string, string>): Promise<Gateway> {
  const gateway = await startGateway(env)
  await recordMasterKey(gateway.db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
  return gateway
}

test.each([
  ['the live network', {}, 400],
  ['the live network, if its operator allows it', { ALLOW_HTTP_WEBHOOKS: 'true' }, 200],
  ['the simulator', { WHATSAPP_NETWORK: 'simulator' }, 200],
])('set-webhook on %s decides about URLs with http', async (_, env, status) => {
  const gateway = await startWith(env)
  try {
    const account = await gateway.createAccount()
    expect((await account.post('/set-webhook', { url: http })).status).toBe(status)
    expect((await account.post('/set-webhook', { url: https })).status).toBe(200)
  } finally {
    await gateway.close()
  }
})

test('a webhook that has a URL with http keeps it, with a warning, until it gets another one', async () => {
  const gateway = await startWith({})
  try {
    const account = await gateway.createAccount()
    const { body } = await account.post('/set-webhook', { url: https })
    const { webhook_id } = body
    await gateway.db.$client`UPDATE webhooks SET url = ${http} WHERE account_id = ${account.userId}`
    const change = async (fields: object) =>
      (await account.post('/set-webhook', { webhook_id, ...fields })).body
    expect(await change({ name: 'Shop' })).toMatchObject({
      url: http,
      warnings: [expect.stringMatching('https')],
    })
    expect(await change({ url: http })).toMatchObject({ code: 'invalid_parameter' })
    const encrypted = await change({ url: https })
    expect(encrypted).toMatchObject({ url: https })
    expect(encrypted).not.toHaveProperty('warnings')
  } finally {
    await gateway.close()
  }
})

test.each([
  ['the live network makes no link', {}, { code: 'public_url_missing' }],
  ['the live network uses it', { PUBLIC_URL: 'https://wa.example.com' }, { ok: true }],
  ['the simulator uses the origin of the request', { WHATSAPP_NETWORK: 'simulator' }, { ok: true }],
])('without or with PUBLIC_URL, %s', async (_, env, expected) => {
  const gateway = await startGateway({ PUBLIC_URL: '', ...env })
  try {
    const account = await gateway.createAccount()
    const { body } = await account.post('/create-link', { sender: randomPhone() })
    expect(body).toMatchObject(expected)
    const origin = 'PUBLIC_URL' in env ? env.PUBLIC_URL : gateway.url
    if (body.ok) expect(new URL(String(body.url)).origin).toBe(origin)
  } finally {
    await gateway.close()
  }
})
