import { setPairingStep } from '@wagate/db/queries/devices/device-link'
import type { PasskeyStep } from '@wagate/shared/statuses'
import { z } from 'zod'
import type { PasskeyLink } from '../session/linking/passkey.ts'
import type { DeviceScope } from './device-scope.ts'

/** The passkey step of one connection. What it tells callers, it tells as events. */
export type DevicePasskey = {
  ask(options: Record<string, unknown>): Promise<void>
  /** Sends the assertion that a caller has left in Redis, once. Confirms, too, when the phone may ask for no comparison. */
  submit(): Promise<void>
  /** Once for each assertion, unless WhatsApp refuses. */
  confirm(): Promise<void>
}

const assertionSchema = z.looseObject({ id: z.string(), rawId: z.string() })

type Pairing = { desiredRev: number; link: () => PasskeyLink }

export function makeDevicePasskey(
  { context, id, lease, logger }: DeviceScope,
  { desiredRev, link }: Pairing,
): DevicePasskey {
  const { db, events, config } = context
  const { assertionMs, linkMs, confirmationMs } = config.passkey
  /** Those of the assertion, as JSON. */
  let options: string | null = null
  /** Or it is confirmed, and the link follows. */
  let isConfirming = false

  async function announce(step: PasskeyStep, forMs: number, code: string | null): Promise<void> {
    const event = {
      kind: 'passkey',
      epoch: lease.epoch,
      options,
      code,
      expiresAtMs: Date.now() + forMs,
    } as const
    // First, because whoever reads the new status asks for it next.
    await events.retain(id, event)
    // Called off meanwhile: reconciliation ends the connection.
    if (!(await setPairingStep(db, lease, id, { desiredRev, step, forMs }))) return
    await events.publish(id, event)
  }

  async function refuse(error: string): Promise<void> {
    logger.info({ error }, 'WhatsApp refused the passkey')
    await events.publish(id, { kind: 'passkey-refused', error })
  }

  async function takeAssertion() {
    const text = await events.takeAssertion(id)
    const parsed = assertionSchema.safeParse(JSON.parse(text ?? 'null'))
    return parsed.success ? parsed.data : undefined
  }

  async function confirm(): Promise<void> {
    if (isConfirming) return
    isConfirming = true
    try {
      const answer = await link().confirm()
      isConfirming = answer.kind === 'sent'
      if (answer.kind === 'refused') await refuse(answer.error)
    } catch (error) {
      isConfirming = false
      throw error
    }
  }

  /** Resolves to whether the person at the phone seems to be asked to compare the codes. */
  async function confirmAlone(): Promise<boolean> {
    await confirm()
    const isPending = isConfirming && (await link().isPendingAfter(linkMs))
    // WhatsApp may have asked again meanwhile.
    return isPending && isConfirming
  }

  return {
    async ask(given) {
      options = JSON.stringify(given)
      isConfirming = false
      logger.info('WhatsApp asks for the passkey of the account')
      await announce('passkey_required', assertionMs, null)
    },
    async submit() {
      const assertion = await takeAssertion()
      if (!assertion || isConfirming) return
      const answer = await link().answer(assertion)
      if (answer.kind === 'refused') return refuse(answer.error)
      if (answer.isProven && !(await confirmAlone())) return
      await announce('passkey_confirmation_required', confirmationMs, answer.code)
    },
    confirm,
  }
}
