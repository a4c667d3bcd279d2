import { findPairing, requestPairing, withdrawPairing } from '@wagate/db/queries/device-desired-state'
import { AppError } from '@wagate/shared/app-error'
import type { QrEvent } from '@wagate/shared/device-events'
import { audit } from '../changes/idempotent-change.ts'
import { deviceNotFound } from '../devices/device-locator.ts'
import { AppError } from '../errors/app-error.ts'
import { lookUntilFound, makeNudge } from '../events/poll-until.ts'
import type { Call } from '../operation.ts'

const qrWaitMs = 15_000

/** Asks the owner for a QR and waits for it. Throws `already_connected`, `rate_limited`, `qr_timeout` or `unavailable`. */
export async function requestQr(
  call: Call,
  deviceId: number,
  { force }: { force: boolean },
): Promise<QrEvent> {
  const { db, config, events, closing, command } = call.context
  const { accountId } = call.account
  const nudge = makeNudge()
  let told: QrEvent | undefined
  let hasLiveOwner = false
  let isRefused = false

  const leave = await throughRedis(
    events.subscribe(deviceId, (event) => {
      if (event.kind === 'qr') told = event
      if (event.kind === 'pairing-refused') isRefused = true
      nudge.nudge()
    }),
  )

  async function look(): Promise<QrEvent | undefined> {
    const pairing = await findPairing(db, accountId, deviceId)
    if (pairing?.isLinked) throw alreadyConnected()
    if (!pairing?.isWanted)
      throw new AppError('qr_timeout', 'The pairing was ended while waiting for its QR code.')
    hasLiveOwner = pairing.hasLiveOwner
    const isCurrent = (qr: QrEvent | undefined) => qr?.epoch === pairing.epoch && qr.expiresAtMs > Date.now()
    if (isCurrent(told)) return told
    const retained = await throughRedis(events.findQr(deviceId))
    if (isCurrent(retained)) return retained
    if (!isRefused) return undefined
    // Nobody would see the code that takes the next free place.
    await withdrawPairing(db, accountId, deviceId)
    throw tooManyPairings()
  }

  try {
    await db.transaction(async (tx) => {
      const isWanted = await requestPairing(tx, accountId, deviceId, { pairingMs: config.PAIRING_MS, force })
      if (!isWanted) {
        throw (await findPairing(tx, accountId, deviceId)) ? alreadyConnected() : deviceNotFound()
      }
      if (force) await audit(tx, call, { target: `device:${deviceId}`, result: 'forced' })
    })
    command({ kind: 'start-session', deviceId })
    call.deadline.extend(qrWaitMs)
    const signal = AbortSignal.any([closing, call.deadline.signal])
    const qr = await lookUntilFound(look, { nudge, forMs: qrWaitMs, signal })
    if (qr) return qr
    if (closing.aborted) throw unavailable()
    throw new AppError(
      'qr_timeout',
      hasLiveOwner
        ? 'WhatsApp gave no QR code in time. Try again.'
        : 'No worker is running that could open the session. Try again when one is.',
    )
  } finally {
    await leave()
  }
}

function alreadyConnected(): AppError {
  return new AppError(
    'already_connected',
    'The sender is linked already. With force=true it is logged out first.',
  )
}

function tooManyPairings(): AppError {
  return new AppError(
    'rate_limited',
    'Too many senders wait for the scan of their QR code. Scan one, end one with logout-device, or try again later.',
    { retryAfterSeconds: 10 },
  )
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The QR code cannot be fetched at the moment. Try again.', {
    retryAfterSeconds: 1,
    cause,
  })
}

/** QR codes travel through Redis alone. */
async function throughRedis<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    throw unavailable(error)
  })
}
