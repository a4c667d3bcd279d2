import type { DeviceState } from '@wagate/db/queries/devices/device-owner-view'
import { failUnlinkedMessages } from '@wagate/db/queries/messages/unsendable-messages'
import { OwnershipLost } from '@wagate/db/queries/statements/fence'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { messageErrors } from '@wagate/shared/message-errors'
import type { Lease } from '../ownership/lease.ts'
import { endInPages } from '../statements/end-in-pages.ts'
import type { DeviceContext } from './device-context.ts'

export type UnlinkedSweep = {
  /** Starts a sweep if one may be needed. Returns at once. */
  sweep(state: SweepState): void
  stop(): void
}

type SweepState = Pick<DeviceState, 'accountId' | 'isLinked' | 'linkGeneration'>

/**
 * Fails, in the background, messages that were accepted for a link of the device that no longer exists. A logout, a
 * pairing and a login do not wait for it: such messages are neither listed nor claimed for another link.
 */
export function makeUnlinkedSweep(
  {
    db,
    logger,
    metrics,
    publishEventHint,
  }: Pick<DeviceContext, 'db' | 'logger' | 'metrics' | 'publishEventHint'>,
  lease: Lease,
  deviceId: number,
): UnlinkedSweep {
  let isStopped = false
  /** The generation of the link whose predecessors have no messages left. */
  let sweptGeneration: number | undefined
  let seen: SweepState | undefined

  const run = makeSingleFlight(sweepAll, (err) => {
    if (err instanceof OwnershipLost) return
    logger.warn({ err, deviceId }, 'Failing the messages of a former link did not work, will retry')
  })

  const mayGoOn = () => !isStopped && lease.isValid()

  async function sweepAll(): Promise<void> {
    const at = seen
    const sentence = messageErrors.sender_logged_out
    const failed = await endInPages(
      (from) => failUnlinkedMessages(db, lease, deviceId, from, sentence),
      mayGoOn,
    )
    if (failed > 0) {
      metrics.failures.inc({ code: 'sender_logged_out' }, failed)
      if (at) publishEventHint(at.accountId)
    }
    if (at?.isLinked && mayGoOn()) sweptGeneration = at.linkGeneration
  }

  return {
    sweep(state) {
      seen = state
      if (!state.isLinked || state.linkGeneration !== sweptGeneration) run()
    },
    stop() {
      isStopped = true
    },
  }
}
