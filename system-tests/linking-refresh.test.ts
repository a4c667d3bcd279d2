import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

type Fields = Record<string, unknown>

let system: TestSystem
let gateway: GatewayClient
let numbers = 0

beforeAll(async () => {
  system = await openTestSystem()
  gateway = system.gateway
}, 60_000)
afterEach(() => system?.phones.clearFaults())
afterAll(() => system?.close(), 30_000)

/** A sender that is not linked yet, and the ways to link it. */
function newSender() {
  const sender = `15552016${String(100 + ++numbers)}`
  const call = (operation: string, fields: Fields = {}) => gateway.call(operation, { sender, ...fields })
  const statusOf = async () => (await gateway.statusOf(sender)).status
  const untilStatus = (status: string) =>
    until(`${sender} is ${status}`, async () => (await statusOf()) === status)

  async function generateQr(): Promise<string> {
    const { status, body } = await call('generate-qr')
    if (status !== 200) throw new Error(`No QR code: ${JSON.stringify(body)}`)
    return String(body.qr_text)
  }

  /** As a person does: the phone refuses a retired code, and scans the one that is shown then. */
  async function scan(): Promise<void> {
    try {
      await system.phones.scan(await generateQr(), sender)
    } catch (error) {
      expect(String(error)).toContain("Couldn't link device")
      await system.phones.scan(await generateQr(), sender)
    }
  }

  return {
    sender,
    call,
    generateQr,
    untilStatus,
    ways: {
      'a QR code': scan,
      async 'a pairing code'() {
        const { body } = await call('pair-code')
        expect(
          await gateway.control('/type-code', { number: sender, code: body.pairing_code }),
        ).toMatchObject({ ok: true })
      },
      async 'a passkey'() {
        await gateway.control(`/chats/${sender}/passkey`, {})
        await scan()
        await untilStatus('passkey_required')
        const { body } = await call('passkey-challenge')
        const { challenge } = body.challenge as { challenge: string }
        const assertion = await gateway.control(`/chats/${sender}/passkey/assert`, { challenge })
        await call('passkey-assertion', { assertion })
      },
    } satisfies Record<string, () => Promise<void>>,
  }
}

const ways = ['a QR code', 'a pairing code', 'a passkey'] as const
const modes = ['before_scan', 'after_scan', 'both'] as const

const flaws = async () => (await gateway.control<{ unknown: Fields }>('/stats')).unknown
const refreshes = async () => {
  const texts = await Promise.all(['worker-1', 'worker-2'].map(system.metricsOf))
  return texts
    .flatMap((text) => /^wagate_linking_refreshes_total (\d+)$/m.exec(text)?.[1] ?? [])
    .reduce((sum, count) => sum + Number(count), 0)
}

describe('a sender whose linking secret WhatsApp retires', () => {
  const cases = ways.flatMap((way) => modes.map((code) => [way, code] as const))

  it.each(cases)('is linked by %s (%s)', async (way, code) => {
    const { sender, ways: linkBy, untilStatus } = newSender()
    const before = { flaws: await flaws(), refreshes: await refreshes() }
    await system.phones.fault({ kind: 'registration_refresh', code })
    await system.phones.fault({ kind: 'ack_required', ms: 3000 })
    await linkBy[way]()
    await untilStatus('connected')
    await system.phones.clearFaults()
    await gateway.deliver(sender, '15552016999')
    expect(await flaws()).toEqual(before.flaws)
    // A typed code is proven with a secret of its own, which nothing may replace.
    const isReplaced = way !== 'a pairing code' || code !== 'after_scan'
    expect((await refreshes()) > before.refreshes).toBe(isReplaced)
  })
})

describe('callers of a sender that is being linked', () => {
  it('are shown the same QR code with another secret, until the same time', async () => {
    const { sender, call, ways: linkBy, generateQr, untilStatus } = newSender()
    const first = await generateQr()
    const shown = (await call('pairing-status')).body
    const cursor = (await gateway.get('events?after=latest')).body.next
    const next = call('pairing-status', { after: shown.version })
    await gateway.control('/retire-secrets', {})
    const changed = (await next).body
    expect(changed.status).toBe('scanning')
    expect(changed.version).not.toBe(shown.version)
    expect(Number(changed.expires_in)).toBeLessThanOrEqual(Number(shown.expires_in))
    const told = await until('there is an event', async () => {
      const { body } = await gateway.get(`events?after=${cursor}&types=device.qr`)
      return (body.events as Fields[])[0]
    })
    const [begun] = await qrEvents(sender)
    expect(told).toMatchObject({ type: 'device.qr', data: { expires_at: begun?.expires_at } })
    const second = await generateQr()
    const [one, other] = [first, second].map((qr) => qr.split(','))
    expect(other?.[3]).not.toBe(one?.[3])
    expect(other?.toSpliced(3, 1)).toEqual(one?.toSpliced(3, 1))
    await linkBy['a QR code']()
    await untilStatus('connected')
  })

  it('are shown no further QR code once a code was typed', async () => {
    const { sender, call, untilStatus } = newSender()
    const { body } = await call('pair-code')
    await system.phones.fault({ kind: 'registration_refresh', code: 'after_scan' })
    await gateway.control('/type-code', { number: sender, code: body.pairing_code })
    await untilStatus('connected')
    expect(await qrEvents(sender)).toHaveLength(1)
  })
})

describe('a sender whose worker is killed when the new secret is stored, but not acknowledged', () => {
  it.each(ways)('is linked by %s through the next owner', async (way) => {
    const { sender, call, ways: linkBy, generateQr, untilStatus } = newSender()
    await generateQr()
    const owner = await system.ownerOf(sender)
    const release = await holdWritesOf(sender)
    await gateway.control('/retire-secrets', {})
    await until('the worker is about to store it', async () => (await countBlocked()) > 0)
    system.devnet.signal(owner, 'SIGSTOP')
    await release()
    await until('it is stored', async () => (await qrEvents(sender)).length === 2)
    const shown = (await call('pairing-status')).body
    system.devnet.signal(owner, 'SIGKILL')
    await until(`${owner} is gone`, () => system.devnet.pid(owner) === undefined)
    await system.devnet.start(owner)
    await until('another owner shows a QR code', async () => {
      const { body } = await call('pairing-status')
      return body.version !== shown.version && body.qr_data_url !== null
    })
    await system.phones.fault({ kind: 'registration_refresh', code: 'both' })
    await linkBy[way]()
    await untilStatus('connected')
    await gateway.deliver(sender, '15552016999')
  })
})

function qrEvents(sender: string): Promise<{ expires_at: string }[]> {
  return system.database.$client`
    SELECT data->>'expires_at' AS expires_at FROM events JOIN devices ON devices.id = device_id
    WHERE sender = ${sender} AND type = 32 ORDER BY events.id`
}

/** Owners cannot write about the sender until the returned function is called. */
async function holdWritesOf(sender: string): Promise<() => Promise<void>> {
  const connection = await system.database.$client.reserve()
  await connection`BEGIN`
  await connection`
    SELECT FROM shard_leases JOIN devices USING (shard) WHERE sender = ${sender} FOR UPDATE OF shard_leases`
  return async () => {
    await connection`COMMIT`
    connection.release()
  }
}

async function countBlocked(): Promise<number> {
  const blocked = await system.database.$client`
    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query LIKE ${'%pairing_until%'}`
  return blocked.length
}
