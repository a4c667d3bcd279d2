import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { deviceFields } from '../objects/device-object.ts'
import { pairingUnavailable } from '../pairing/pairing-errors.ts'
import { findLinkEnd, findPasskeyStep, noPasskeyPending, passkeyRefused } from '../pairing/passkey-step.ts'

const waitMs = 30_000

export const passkeyConfirm = defineOperation({
  name: 'passkey-confirm',
  summary: 'Say that the phone shows the same code, and finish linking a sender with a passkey',
  methods: ['POST'],
  changes: true,
  admits: ['key', 'session'],
  parameters: z.object(deviceLocator),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    status: deviceFields.status.describe('`connected`, or what became of the linking instead'),
    status_reason: deviceFields.status_reason,
  }),
  errors: ['missing_parameter', 'device_not_found', 'no_passkey_pending', 'passkey_refused'],
  example: {
    given: { sender: '4915112345678' },
    answer: { device_id: 7, sender: '4915112345678', status: 'connected' },
  },
  async handle(located, call) {
    const { db, notify } = call.context
    const { id, sender } = await getDevice(call, located)
    const present = await findPasskeyStep(call, id)
    if (present && present.step !== 'passkey_confirmation_required') throw noPasskeyPending()
    // The phone may have been faster than the caller, or may have asked for no comparison.
    const end = present ? undefined : await findLinkEnd(call, id)
    if (end && end.status !== 'connected') throw noPasskeyPending()
    if (end) return { device_id: id, sender, ...end }
    let refusal: string | undefined
    const find = async () => {
      if (refusal !== undefined) throw passkeyRefused(refusal)
      const now = await findLinkEnd(call, id)
      if (now?.status !== 'passkey_confirmation_required') return now
      // It is lost if the owner has just begun to take commands, and has no further effect when it is repeated.
      notify.enqueueCommand({ kind: 'confirm-passkey', deviceId: id })
      return undefined
    }
    const found = await waitForDevice(call, id, {
      isRelevant(event) {
        if (event.kind === 'passkey-refused') refusal = event.error
        return true
      },
      async begin() {
        await db.transaction((tx) => audit(tx, call, { target: `device:${id}`, result: 'confirmed' }))
        call.deadline.extend(waitMs)
      },
      find,
      forMs: waitMs,
      withoutRedis: pairingUnavailable,
    })
    if (found) return { device_id: id, sender, ...found }
    const { status } = await getDevice(call, { device_id: id })
    if (status === 'passkey_confirmation_required' && (await findPasskeyStep(call, id)))
      throw passkeyRefused('timeout')
    return { device_id: id, sender, status }
  },
})
