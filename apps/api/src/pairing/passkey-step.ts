import { findPairing } from '@wagate/db/queries/devices/device-desired-state'
import type { PasskeyEvent } from '@wagate/shared/device-events'
import type { PasskeyStep } from '@wagate/shared/statuses'
import type { Call } from '../calls/call.ts'
import { getDevice } from '../devices/device-locator.ts'
import { AppError } from '../errors/app-error.ts'
import { throwPairingUnavailable } from './pairing-errors.ts'

/** What a person has to do now. Throws `no_passkey_pending`, or `unavailable` without Redis. */
export async function getPasskeyStep(
  call: Call,
  deviceId: number,
): Promise<PasskeyEvent & { step: PasskeyStep }> {
  const found = await findPasskeyStep(call, deviceId)
  if (!found) throw noPasskeyPending()
  return found
}

/** Undefined when WhatsApp asks for nothing, or no longer: what a former owner was asked for is lost with it. */
export async function findPasskeyStep(
  { context, principal }: Call,
  deviceId: number,
): Promise<(PasskeyEvent & { step: PasskeyStep }) | undefined> {
  const pairing = await findPairing(context.db, principal.accountId, deviceId)
  if (!pairing?.step) return undefined
  const event = await context.events.devices.findPasskey(deviceId).catch(throwPairingUnavailable)
  if (!event || event.epoch !== pairing.epoch || event.expiresAtMs <= Date.now()) return undefined
  // The owner stores the event before the status.
  const isConfirming = pairing.step === 'passkey_confirmation_required'
  return {
    ...event,
    step: pairing.step,
    options: isConfirming ? null : event.options,
    code: isConfirming ? event.code : null,
  }
}

/** What became of a link whose passkey step is over. Undefined while the new link logs in for the first time. */
export async function findLinkEnd(call: Call, deviceId: number) {
  const { status, statusReason } = await getDevice(call, { device_id: deviceId })
  const isOver = status !== 'disconnected' || statusReason !== null
  if (!isOver && (await findPairing(call.context.db, call.principal.accountId, deviceId))?.isLinked)
    return undefined
  return { status, ...(statusReason !== null && { status_reason: statusReason }) }
}

export function noPasskeyPending(): AppError {
  return new AppError(
    'no_passkey_pending',
    'WhatsApp does not ask for a passkey of this sender now. Call generate-qr, and scan the QR code.',
  )
}

/** `error` is WhatsApp's error code, or `timeout`. */
export function passkeyRefused(error: string): AppError {
  return new AppError(
    'passkey_refused',
    `WhatsApp did not accept the passkey (${error}). Make the assertion again with the present challenge.`,
  )
}
