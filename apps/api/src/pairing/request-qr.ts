import { findPairing, requestPairing, withdrawPairing } from '@wagate/db/queries/device-desired-state'
import type { QrEvent } from '@wagate/shared/device-events'
import type { Call } from '../call.ts'
import { audit } from '../changes/audit.ts'
import { deviceNotFound } from '../devices/device-locator.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { alreadyConnected, pairingUnavailable, qrTimeout, tooManyPairings } from './pairing-errors.ts'

const qrWaitMs = 15_000

/**
 * Asks the owner of the device for a QR code and waits for it. Throws `already_connected`, `rate_limited`, `qr_timeout`
 * or `unavailable`.
 */
export async function requestQr(
  call: Call,
  deviceId: number,
  { force }: { force: boolean },
): Promise<QrEvent> {
  const { db, events, closing, enqueueCommand } = call.context
  const { accountId } = call.principal
  let announced: QrEvent | undefined
  let hasLiveOwner = false
  let isRefused = false

  async function findCurrentQr(): Promise<QrEvent | undefined> {
    const pairing = await findPairing(db, accountId, deviceId)
    if (pairing?.isLinked) throw alreadyConnected()
    if (!pairing?.isWanted) throw qrTimeout('The pairing was ended while waiting for its QR code.')
    hasLiveOwner = pairing.hasLiveOwner
    const isCurrent = (qr: QrEvent | undefined) => qr?.epoch === pairing.epoch && qr.expiresAtMs > Date.now()
    if (isCurrent(announced)) return announced
    const retained = await events.findQr(deviceId).catch((error: unknown) => {
      throw pairingUnavailable(error)
    })
    if (isCurrent(retained)) return retained
    if (!isRefused) return undefined
    // Otherwise the pairing would take the next free slot although no caller waits for its code.
    await withdrawPairing(db, accountId, deviceId)
    throw tooManyPairings()
  }

  const qr = await waitForDevice(call, deviceId, {
    isRelevant(event) {
      if (event.kind === 'qr') announced = event
      if (event.kind === 'pairing-refused') isRefused = true
      return true
    },
    async begin() {
      await beginPairing(call, deviceId, { force })
      enqueueCommand({ kind: 'start-session', deviceId })
      call.deadline.extend(qrWaitMs)
    },
    find: findCurrentQr,
    forMs: qrWaitMs,
    withoutRedis: pairingUnavailable,
  })
  if (qr) return qr
  if (closing.aborted) throw pairingUnavailable()
  throw qrTimeout(
    hasLiveOwner
      ? 'Timed out waiting for a QR code from WhatsApp. Try again.'
      : 'No worker is available to open the session. Start a worker, then try again.',
  )
}

async function beginPairing(call: Call, deviceId: number, { force }: { force: boolean }): Promise<void> {
  const { db, config } = call.context
  const { accountId } = call.principal
  const { pairingMs } = config.devices
  await db.transaction(async (tx) => {
    const isWanted = await requestPairing(tx, accountId, deviceId, { pairingMs, force })
    if (!isWanted) {
      throw (await findPairing(tx, accountId, deviceId)) ? alreadyConnected() : deviceNotFound()
    }
    if (force) await audit(tx, call, { target: `device:${deviceId}`, result: 'forced' })
  })
}
