import { setTimeout as delay } from 'node:timers/promises'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import { makeSingleFlight } from '@wagate/runtime/single-flight'
import { within } from '@wagate/runtime/within'
import type { DeviceContext } from '../context.ts'
import type { WASocket } from '../session/connection/socket.ts'
import { makeLookUp } from '../session/contacts/look-up.ts'
import { acknowledge } from './acknowledge.ts'
import { makeEarliestTimer } from './earliest-timer.ts'
import { followFirstContacts } from './follow-first-contacts.ts'
import type { ConnectionEnd } from './in-flight.ts'
import { makeLookUpUnknown } from './look-up-unknown.ts'
import type { OutboxDevice } from './outbox-device.ts'
import { makeOutboxScope } from './outbox-scope.ts'
import { makePreparation } from './preparation.ts'
import { makePrepareLoop } from './prepare-loop.ts'
import { planLanes } from './recipient-lanes.ts'
import { makeSendLoop } from './send-loop.ts'

export type Outbox = {
  /** There may be new rows. */
  wake(): void
  /** Sends nothing new and waits, at most this long, for the answers to the messages in flight. */
  drain(timeoutMs: number): Promise<void>
  stop(end: ConnectionEnd): void
}

const failurePause = { firstMs: 1000, maxMs: 10_000 }
const wakeMs = 1000

/**
 * Sends the waiting messages of one device through one socket, in their order for each recipient: a message waits for
 * the answer to the one before it only if both go to the same recipient. A message without an answer when the socket
 * ends stays `sending` in the database and is sent again, under the same id, through the next socket.
 */
export function startOutbox(context: DeviceContext, device: OutboxDevice, sock: WASocket): Outbox {
  const { logger } = context
  const stopping = new AbortController()
  let isDraining = false
  let isWaking = false
  let failures = 0
  const pump = makeSingleFlight(pumpOnce, (error) => {
    logger.warn({ err: error, deviceId: device.id }, 'Outbox failed, will retry')
    failures += 1
    pumpAfter(growingPauseMs(failures, failurePause))
  })
  const pumpAfter = makeEarliestTimer(pump, stopping.signal)
  const outbox = makeOutboxScope(context, device, sock, {
    isStopped: () => stopping.signal.aborted,
    maySend: () => !stopping.signal.aborted && !isDraining && device.lease.isValid(),
    pump,
    pumpAfter,
  })
  const { acknowledged, facts, inFlight, results, waiting } = outbox
  const sends = makeSendLoop(outbox)
  const prepareNext = makePrepareLoop(outbox, makePreparation(context, device, results, sock))
  const lookUpUnknown = makeLookUpUnknown({
    resolver: device.resolver,
    lookUp: makeLookUp(sock),
    logger,
    deviceId: device.id,
    pump,
    pumpAfter,
  })

  async function pumpOnce(): Promise<void> {
    if (!outbox.maySend()) return
    const untilReadMs = await waiting.refill((messages) => planLanes(messages, facts).available)
    failures = 0
    if (untilReadMs > 0) pumpAfter(untilReadMs)
    const plan = planLanes(waiting.list(), facts)
    if (Number.isFinite(plan.pauseMs)) pumpAfter(plan.pauseMs)
    for (const message of plan.absent) {
      waiting.remove(message)
      void results.fail(message, 'recipient_not_on_whatsapp')
    }
    lookUpUnknown(plan.unknown)
    prepareNext(plan)
    sends.sendNext(plan.ready)
  }

  function wakeNow(): void {
    isWaking = false
    waiting.mayHaveMore()
    pump()
  }

  /** While new contacts are paused, a read has to find the messages to known contacts: too costly for each new message. */
  function wakeSoon(): void {
    if (isWaking) return
    isWaking = true
    delay(wakeMs, undefined, { signal: stopping.signal }).then(wakeNow, () => undefined)
  }

  const unsubscribe = device.outcomes.subscribe((waId, outcome) => acknowledge(outbox, waId, outcome))
  const follow = () => followFirstContacts(outbox)
  const unfollow = [device.firstContacts.onChange(follow), device.contactBudget.onChange(follow)]
  pump()
  return {
    wake: () => (outbox.areNewContactsPaused() ? wakeSoon() : wakeNow()),
    async drain(timeoutMs) {
      isDraining = true
      await within(
        timeoutMs,
        sends.untilAnswered().then(() => acknowledged.untilRecorded()),
      )
    },
    stop(end) {
      stopping.abort()
      unsubscribe()
      for (const end of unfollow) end()
      inFlight.endAll(end)
      for (const waId of outbox.typing.stop()) device.pacer.release(waId)
    },
  }
}
