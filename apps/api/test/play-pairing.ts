import type { PasskeyStep } from '@wagate/shared/statuses'
import { vi } from 'vitest'
import type { Gateway } from './gateway.ts'

/** Acts as an owner that gets a QR code from WhatsApp, by default with the epoch of its lease. */
export async function showQr(
  { db, events }: Gateway,
  deviceId: number,
  { text, epochAhead = 0, retain = true }: { text: string; epochAhead?: number; retain?: boolean },
): Promise<void> {
  const epoch = (await epochOf(db, deviceId)) + epochAhead
  const event = { kind: 'qr' as const, epoch, text, expiresAtMs: Date.now() + 20_000 }
  await db.$client`UPDATE devices SET connection = 'scanning' WHERE id = ${deviceId}`
  if (retain) await events.retain(deviceId, event)
  await events.publish(deviceId, event)
}

/** Acts as an owner whom WhatsApp asks for a passkey. */
export async function showPasskey(
  { db, events }: Gateway,
  deviceId: number,
  given: { step: PasskeyStep; epochAhead: number; options?: unknown; code?: string },
): Promise<void> {
  const event = {
    kind: 'passkey' as const,
    epoch: (await epochOf(db, deviceId)) + given.epochAhead,
    options: given.options === undefined ? null : JSON.stringify(given.options),
    code: given.code ?? null,
    expiresAtMs: Date.now() + 20_000,
  }
  await events.retain(deviceId, event)
  await db.$client`
    UPDATE devices SET desired = 'linked', pairing_step = ${given.step}, pairing_until = now() + interval '20 s'
    WHERE id = ${deviceId}`
  await events.publish(deviceId, event)
}

export async function givePairingCode(
  { db, events }: Gateway,
  deviceId: number,
  code = 'K7QX2M9F',
): Promise<void> {
  const epoch = await epochOf(db, deviceId)
  const expiresAtMs = Date.now() + 20_000
  await events.publish(deviceId, { kind: 'pairing-code', epoch, code, expiresAtMs })
}

/** Resolves to the device once the API wants it to be paired. */
export async function waitForPairing({ db }: Gateway, sender: string): Promise<number> {
  return vi.waitFor(
    async () => {
      const [device] = await db.$client<{ id: number }[]>`
        SELECT id FROM devices WHERE sender = ${sender} AND desired = 'linked' AND pairing_until > now()`
      if (!device) throw new Error('The API has not asked for a pairing')
      return device.id
    },
    { timeout: 5000, interval: 20 },
  )
}

async function epochOf(db: Gateway['db'], deviceId: number): Promise<number> {
  const [lease] = await db.$client<{ epoch: number }[]>`
    SELECT epoch::int FROM shard_leases JOIN devices USING (shard) WHERE id = ${deviceId}`
  return lease?.epoch ?? 0
}
