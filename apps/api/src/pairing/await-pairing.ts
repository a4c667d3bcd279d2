import { findPairing, requestPairing, withdrawPairing } from '@wagate/db/queries/devices/device-desired-state'
import type { DeviceEvent } from '@wagate/shared/device-events'
import type { Call } from '../calls/call.ts'
import { audit } from '../changes/audit.ts'
import { deviceNotFound } from '../devices/device-locator.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { type Code, isCurrent, isShown } from './current-code.ts'
import {
  alreadyConnected,
  pairingUnavailable,
  passkeyPending,
  proxyFailed,
  qrTimeout,
  tooManyPairings,
} from './pairing-errors.ts'

const waitMs = 15_000

type PairingWait<Found extends Code> = {
  what: 'QR code' | 'pairing code'
  force: boolean
  /** What an event announces. May throw what the caller is answered with. */
  read(event: DeviceEvent): Found | undefined
  /** Called while nothing was announced yet: finds what was announced before, or asks the owner again. */
  findEarlier(): Promise<Found | undefined>
}

/**
 * Starts a pairing and waits for what the owner of the device announces. Throws `already_connected`, `rate_limited`,
 * `qr_timeout` or `unavailable`.
 */
export async function awaitPairing<Found extends Code>(
  call: Call,
  deviceId: number,
  { what, force, read, findEarlier }: PairingWait<Found>,
): Promise<Found> {
  const { db, closing, notify } = call.context
  const { accountId } = call.principal
  let announced: Found | undefined
  let refusal: unknown
  let hasLiveOwner = false

  async function find(): Promise<Found | undefined> {
    // An event that arrives during the reads below causes another call.
    const refused = refusal
    const pairing = await findPairing(db, accountId, deviceId)
    if (pairing?.isLinked) throw alreadyConnected()
    if (pairing?.step) throw passkeyPending(pairing.step)
    if (!pairing?.isWanted) throw qrTimeout(`The pairing was ended while waiting for its ${what}.`)
    hasLiveOwner = pairing.hasLiveOwner
    if (isCurrent(announced, pairing)) return announced
    if (refused !== undefined && refused !== noSlot) throw refused
    const earlier = await findEarlier()
    if (isShown(earlier, pairing)) return earlier
    if (refused === undefined) return undefined
    // Otherwise the pairing would take the next free slot although no caller waits for its code.
    await withdrawPairing(db, accountId, deviceId)
    throw tooManyPairings()
  }

  const found = await waitForDevice(call, deviceId, {
    isRelevant(event) {
      if (event.kind === 'pairing-refused') refusal = noSlot
      if (event.kind === 'proxy-failed') refusal = proxyFailed(event.detail)
      try {
        announced = read(event) ?? announced
      } catch (error) {
        refusal = error
      }
      return true
    },
    async begin() {
      await beginPairing(call, deviceId, { force })
      notify.enqueueCommand({ kind: 'start-session', deviceId })
      call.deadline.extend(waitMs)
    },
    find,
    forMs: waitMs,
    withoutRedis: pairingUnavailable,
  })
  if (found) return found
  if (closing.aborted) throw pairingUnavailable()
  throw qrTimeout(
    hasLiveOwner
      ? `Timed out waiting for a ${what} from WhatsApp. Try again.`
      : 'No worker is available to open the session. Start a worker, then try again.',
  )
}

/** Throws `already_connected`. */
export async function refuseLinked({ context, principal }: Call, deviceId: number): Promise<void> {
  const pairing = await findPairing(context.db, principal.accountId, deviceId)
  if (pairing?.isLinked) throw alreadyConnected()
}

const noSlot = Symbol('no slot for another pairing')

async function beginPairing(call: Call, deviceId: number, { force }: { force: boolean }): Promise<void> {
  const { db, config, notify } = call.context
  const { accountId } = call.principal
  const { pairingMs } = config.devices
  await db.transaction(async (tx) => {
    const isWanted = await requestPairing(tx, accountId, deviceId, { pairingMs, force })
    if (!isWanted) {
      throw (await findPairing(tx, accountId, deviceId)) ? alreadyConnected() : deviceNotFound()
    }
    if (force) await audit(tx, call, { target: `device:${deviceId}`, result: 'forced' })
  })
  // It has ended a link, if there was one.
  if (force) notify.publishEventHint(accountId)
}
