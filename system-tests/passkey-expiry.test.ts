import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, test } from 'vitest'

let system: TestSystem
beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    environment: { PASSKEY_ASSERTION_MS: '5000', PASSKEY_LINK_MS: '1000', PASSKEY_CONFIRMATION_MS: '1000' },
  })
}, 60_000)
afterAll(() => system?.close(), 30_000)

test.concurrent.for([
  ['the passkey is not used', '15551800101'],
  ['the codes are not compared', '15551800102'],
] as const)('a linking ends when %s in time, and can begin again', async ([what, sender], { expect }) => {
  const { gateway, phones } = system
  await gateway.control(`/chats/${sender}/passkey`, {})
  await phones.scan(String((await gateway.call('generate-qr', { sender })).body.qr_text), sender)
  const step = () => gateway.call('passkey-challenge', { sender })
  await until('WhatsApp asks for a passkey', async () => (await step()).status === 200)
  if (what !== 'the passkey is not used') {
    await phones.fault({ kind: 'passkey_compare', sender })
    const { challenge } = (await step()).body.challenge as { challenge: string }
    const assertion = await gateway.control(`/chats/${sender}/passkey/assert`, { challenge })
    expect(await gateway.call('passkey-assertion', { sender, assertion })).toMatchObject({ status: 200 })
  }
  await until('the linking is over', async () => {
    const { status, status_reason } = await gateway.statusOf(sender)
    return status === 'disconnected' && status_reason === 'passkey_expired'
  })
  expect(await step()).toMatchObject({ status: 409, body: { code: 'no_passkey_pending' } })
  expect(await gateway.companionsOf(sender)).toEqual([])
  expect(await gateway.call('generate-qr', { sender })).toMatchObject({
    status: 200,
    body: { status: 'scanning' },
  })
})
