import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, newNumber } from './companion.ts'
import { passkeyClient } from './passkey-client.ts'

let sim: Simulator
let companion: Companion
let client: ReturnType<typeof passkeyClient>
let number: string
let qr: string
beforeAll(async () => {
  sim = await startSimulator()
})
beforeEach(async () => {
  number = newNumber()
  sim.requirePasskey(number, { required: true })
  companion = new Companion(sim)
  client = passkeyClient(companion)
  qr = await companion.until(() => companion.qr, 'a QR')
})
afterEach(async () => {
  sim.clearFaults()
  await companion.end()
})
afterAll(async () => {
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

type Assertion = ReturnType<Simulator['assertPasskey']>

/** The phone scans, and the person uses the passkey. */
async function scanAndAssert() {
  expect(await sim.scan({ qr, number })).toEqual({ ok: true, jid: null })
  const challenge = await client.challenge()
  const assertion = sim.assertPasskey(number, { challenge })
  return { credentialId: Buffer.from(assertion.rawId, 'base64url'), assertion }
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: Error & { data?: unknown }) => `${error.message} ${error.data}`,
  )

test('links a companion that has the passkey, after both sides have shown the same code', async () => {
  const given = await scanAndAssert()
  expect(await client.options()).toMatchObject({ rpId: 'whatsapp.com', userVerification: 'required' })
  const { continuation } = await client.answer(given)
  expect(sim.passkey(number)).toMatchObject({ required: true, code: null })
  const code = await client.reveal(continuation)
  expect(code).toMatch(/^[1-9A-HJ-NP-TV-Z]{8}$/)
  expect(sim.passkey(number).code).toBe(code)
  await client.confirm()
  await companion.until(() => companion.isOpen, 'open')
  expect(companion.number).toBe(number)
  expect(sim.passkey(number).code).toBeNull()
})

test.each<[flaw: string, (assertion: Assertion) => Assertion]>([
  ['another credential', (one) => ({ ...one, id: 'AAAA', rawId: 'AAAA' })],
  ['another challenge', () => sim.assertPasskey(number, { challenge: 'AAAA' })],
  ['a wrong signature', (one) => ({ ...one, response: { ...one.response, signature: 'AAAA' } })],
  [
    'the person was not verified',
    (one) => {
      const data = Buffer.from(one.response.authenticatorData, 'base64url')
      data[32] = 1
      return { ...one, response: { ...one.response, authenticatorData: data.toString('base64url') } }
    },
  ],
  [
    'another origin',
    (one) => {
      const data = JSON.parse(Buffer.from(one.response.clientDataJSON, 'base64url').toString())
      const clientDataJSON = Buffer.from(JSON.stringify({ ...data, origin: 'https://example.com' }))
      return { ...one, response: { ...one.response, clientDataJSON: clientDataJSON.toString('base64url') } }
    },
  ],
])('refuses an assertion with %s', async (flaw, change) => {
  const { assertion } = await scanAndAssert()
  const changed = change(assertion)
  const credentialId = Buffer.from(changed.rawId, 'base64url')
  expect(await refusal(client.answer({ credentialId, assertion: changed }))).toBe(`${flaw} 403`)
})

describe('a companion that proves to have the secret of its QR code', () => {
  const isOpen = () => companion.until(() => companion.isOpen, 'open')

  test('is linked without a code on the phone', async () => {
    const { continuation } = await client.answer(await scanAndAssert(), {})
    await client.reveal(continuation)
    expect(sim.passkey(number).code).toBeNull()
    await client.confirm()
    await isOpen()
    expect(companion.number).toBe(number)
  })

  test('is not told of the phone before its assertion is answered', async () => {
    const { continuation } = await client.answer(await scanAndAssert(), {})
    let isTold = false
    void continuation.then(() => {
      isTold = true
    })
    await new Promise(setImmediate)
    expect(isTold).toBe(false)
    await continuation
  })

  test('is refused with the proof of another secret', async () => {
    expect(await refusal(client.answer(await scanAndAssert(), { secret: randomBytes(32) }))).toBe(
      'the handoff proof was not made with the secret that the phone has scanned 403',
    )
  })

  test('proves it with the secret of the code that the phone accepted, not that of a retired one', async () => {
    const retired = Buffer.from(qr.split(',')[3] ?? '', 'base64')
    companion.auth.creds.advSecretKey = randomBytes(32).toString('base64')
    qr = qr.replace(retired.toString('base64'), companion.auth.creds.advSecretKey)
    const given = await scanAndAssert()
    expect(await refusal(client.answer(given, { secret: retired }))).toContain('handoff proof')
    await client.reveal((await client.answer(given, {})).continuation)
    await client.confirm()
    await isOpen()
  })

  test.each(['passkey_compare', 'five minutes'])(
    'is linked when the person accepts the code (%s)',
    async (why) => {
      const given = await scanAndAssert()
      const laterMs = performance.now() + 300_001
      if (why === 'passkey_compare') sim.fault({ kind: why, sender: number, count: 1 })
      else vi.spyOn(performance, 'now').mockReturnValue(laterMs)
      const { continuation } = await client.answer(given, {}).finally(() => vi.restoreAllMocks())
      expect(() => sim.acceptPasskeyCode(number)).toThrow('no code')
      const code = await client.reveal(continuation)
      expect(sim.passkey(number).code).toBe(code)
      expect(() => sim.acceptPasskeyCode(number)).toThrow('no decision')
      await client.confirm()
      expect(sim.passkey(number).code).toBe(code)
      expect(companion.isOpen).toBe(false)
      sim.acceptPasskeyCode(number)
      await isOpen()
    },
  )
})

test('refuses a nonce that the companion has not committed itself to', async () => {
  const { continuation } = await client.answer(await scanAndAssert())
  expect(await refusal(client.reveal(continuation, randomBytes(32)))).toBe(
    'not the nonce of the commitment 400',
  )
  expect(sim.passkey(number).code).toBeNull()
})

test('refuses a request for the keys of another companion', async () => {
  const { continuation } = await client.answer(await scanAndAssert())
  await client.reveal(continuation)
  expect(await refusal(client.confirm(randomBytes(32)))).toBe('bad pairing request 400')
})

test('ends the connection when the person finds another code', async () => {
  const { continuation } = await client.answer(await scanAndAssert())
  expect(() => sim.refusePasskeyCode(number)).toThrow('no code')
  await client.reveal(continuation)
  sim.refusePasskeyCode(number)
  await companion.until(() => companion.closedWith !== undefined, 'closed')
  expect(sim.phones().find((phone) => phone.number === number)?.linked).toBe(false)
})

test('passkey_error refuses the assertion, and passkey_silence never goes on', async () => {
  const given = await scanAndAssert()
  sim.fault({ kind: 'passkey_error', sender: number, code: 429, count: 1 })
  expect(await refusal(client.answer(given))).toContain('429')
  sim.fault({ kind: 'passkey_silence', sender: number, count: 1 })
  await client.answer(given)
  expect(sim.passkey(number).code).toBeNull()
})
