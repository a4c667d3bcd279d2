import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

type Fields = Record<string, unknown>

let system: TestSystem
let gateway: GatewayClient
let sender = ''
let numbers = 0

beforeAll(async () => {
  system = await openTestSystem({
    environment: { PAIRING_MS: '10000', HEARTBEAT_MS: '200', PASSKEY_LINK_MS: '1000' },
  })
  gateway = system.gateway
}, 60_000)
beforeEach(async () => {
  numbers += 1
  sender = `15551600${100 + numbers}`
  await gateway.control(`/chats/${sender}/passkey`, {})
})
afterEach(() => system?.phones.clearFaults())
afterAll(() => system?.close(), 30_000)

const call = (operation: string, fields: Fields = {}) => gateway.call(operation, { sender, ...fields })
const statusOf = async () => (await gateway.statusOf(sender)).status
const untilStatus = (status: string) =>
  until(`the sender is ${status}`, async () => (await statusOf()) === status)

async function scan(): Promise<void> {
  const { body } = await call('generate-qr')
  await system.phones.scan(String(body.qr_text), sender)
  await untilStatus('passkey_required')
}

async function assertion(phone = sender): Promise<Fields> {
  const { challenge } = (await call('passkey-challenge')).body as { challenge: { challenge: string } }
  return gateway.control(`/chats/${phone}/passkey/assert`, { challenge: challenge.challenge })
}

const codeOfPhone = async () =>
  (await gateway.control<{ code: string | null }>(`/chats/${sender}/passkey`)).code
const personSays = (what: 'accept' | 'refuse') => gateway.control(`/chats/${sender}/passkey/${what}`, {})
/** The phone asks its person to compare the codes, although it was given a proof. */
const askOnPhone = () => system.phones.fault({ kind: 'passkey_compare', sender })
const linked = { status: 200, body: { status: 'connected', code: null, expires_in: null } }

describe('a sender whose account needs a passkey', () => {
  it('is linked with an assertion, and needs no code', async () => {
    await scan()
    const asked = await call('passkey-challenge')
    expect(asked).toMatchObject({
      status: 200,
      body: { status: 'passkey_required', challenge: { rpId: 'whatsapp.com' }, code: null },
    })
    expect(asked.body.expires_in).toBeGreaterThan(500)
    const cursor = (await gateway.get('events?after=latest')).body.next
    expect(await call('passkey-assertion', { assertion: JSON.stringify(await assertion()) })).toMatchObject(
      linked,
    )
    const { body } = await gateway.get(`events?after=${cursor}&types=device.passkey_required`)
    expect(body.events).toEqual([])
    // For callers that confirm in any case.
    expect(await call('passkey-confirm')).toMatchObject({ status: 200, body: { status: 'connected' } })
    await gateway.deliver(sender, '4915199990001')
  })

  it('is linked once its person has accepted the code, when the phone asks', async () => {
    await scan()
    await askOnPhone()
    const answer = await call('passkey-assertion', { assertion: await assertion() })
    expect(answer).toMatchObject({ status: 200, body: { status: 'passkey_confirmation_required' } })
    expect(answer.body.expires_in).toBeGreaterThan(100)
    expect(answer.body.code).toBe(await codeOfPhone())
    expect(await statusOf()).toBe('passkey_confirmation_required')
    expect((await call('passkey-challenge')).body).toMatchObject({ challenge: null, code: answer.body.code })
    const confirmed = call('passkey-confirm')
    await personSays('accept')
    // Also when the phone has linked the sender before.
    expect(await confirmed).toMatchObject({ status: 200, body: { status: 'connected' } })
    await gateway.deliver(sender, '4915199990001')
  })

  it('is told when WhatsApp refuses the assertion, and may try again', async () => {
    await scan()
    await gateway.control('/faults', { kind: 'passkey_error', sender, code: '403', count: 1 })
    const given = await assertion()
    expect(await call('passkey-assertion', { assertion: given })).toMatchObject({
      status: 409,
      body: { code: 'passkey_refused', error: expect.stringContaining('403') },
    })
    expect(await statusOf()).toBe('passkey_required')
    expect(await call('passkey-assertion', { assertion: given })).toMatchObject(linked)
  })

  it('is not linked when the person finds another code on the phone', async () => {
    await scan()
    await askOnPhone()
    await call('passkey-assertion', { assertion: await assertion() })
    await personSays('refuse')
    await until('the step is over', async () => !String(await statusOf()).startsWith('passkey'))
    expect(await call('passkey-confirm')).toMatchObject({ status: 409, body: { code: 'no_passkey_pending' } })
    expect(await gateway.companionsOf(sender)).toEqual([])
  })

  it('is shown no QR code meanwhile, unless with force', async () => {
    await scan()
    for (const operation of ['generate-qr', 'pair-code']) {
      expect(await call(operation)).toMatchObject({ status: 409, body: { code: 'passkey_required' } })
    }
    const again = await call('generate-qr', { force: true })
    expect(again).toMatchObject({ status: 200, body: { status: 'scanning' } })
    await system.phones.scan(String(again.body.qr_text), sender)
    await untilStatus('passkey_required')
  })

  it.each(['logout-device', 'delete-device'])('is not linked after %s', async (operation) => {
    await scan()
    await askOnPhone()
    await call('passkey-assertion', { assertion: await assertion() })
    await call(operation)
    const { status, body } = await call('passkey-confirm')
    expect([status, body.code]).toEqual(
      operation === 'logout-device' ? [409, 'no_passkey_pending'] : [404, 'device_not_found'],
    )
    expect(await gateway.companionsOf(sender)).toEqual([])
  })

  it.each(['before the assertion', 'before the code is confirmed'])(
    'starts again when its owner is killed %s',
    async (when) => {
      await scan()
      await askOnPhone()
      if (when !== 'before the assertion') await call('passkey-assertion', { assertion: await assertion() })
      const owner = await system.ownerOf(sender)
      system.devnet.signal(owner, 'SIGKILL')
      await until('the step is over', async () => !String(await statusOf()).startsWith('passkey'))
      expect(await call('passkey-challenge')).toMatchObject({
        status: 409,
        body: { code: 'no_passkey_pending' },
      })
      await system.devnet.start(owner)
      await until(
        'another worker asks for a scan',
        async () => (await call('generate-qr', { force: true })).status === 200,
      )
      await system.phones.clearFaults()
      await scan()
      expect(await call('passkey-assertion', { assertion: await assertion() })).toMatchObject(linked)
    },
    60_000,
  )

  it('is linked after a pairing code was typed in place of a scan', async () => {
    const { body } = await call('pair-code')
    const typing = gateway.control('/type-code', { number: sender, code: body.pairing_code })
    await untilStatus('passkey_required')
    expect(await call('passkey-assertion', { assertion: await assertion() })).toMatchObject(linked)
    await typing
  })

  it('is not linked with the phone of another number', async () => {
    const other = `15551700${100 + numbers}`
    await gateway.control(`/chats/${other}/passkey`, {})
    const { body } = await call('generate-qr')
    await system.phones.scan(String(body.qr_text), other)
    await untilStatus('passkey_required')
    expect((await call('passkey-assertion', { assertion: await assertion(other) })).body).toMatchObject({
      status: 'disconnected',
      status_reason: 'sender_mismatch',
    })
    await until('the phone has no companion', async () => (await gateway.companionsOf(other)).length === 0)
  })

  it('of another account shows nothing', async () => {
    await scan()
    const stranger = await system.createAccount()
    for (const operation of ['passkey-challenge', 'passkey-assertion', 'passkey-confirm']) {
      const fields = operation === 'passkey-assertion' ? { assertion: await assertion() } : {}
      expect(await stranger.call(operation, { sender, ...fields })).toMatchObject({
        status: 404,
        body: { code: 'device_not_found' },
      })
    }
  })

  it.each([['{'], ['[]'], ['{}'], [JSON.stringify({ id: 'x', rawId: 'x', response: {} })]])(
    'refuses %s as an assertion',
    async (given) => {
      await scan()
      expect(await call('passkey-assertion', { assertion: given })).toMatchObject({
        status: 400,
        body: { code: 'invalid_parameter', details: [{ parameter: 'assertion' }] },
      })
    },
  )
})
