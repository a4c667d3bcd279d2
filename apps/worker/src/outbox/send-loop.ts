import { concludeSend } from './conclude-send.ts'
import type { OutboxScope } from './outbox-scope.ts'
import type { Turn } from './recipient-lanes.ts'
import { makeSendTurns, type SendKind } from './send-turns.ts'

export type SendLoop = {
  /** Sends the messages that may be sent now. */
  sendNext(ready: Turn[]): void
  /** Resolves when every message in flight has its answer, and the answers are being recorded. */
  untilAnswered(): Promise<unknown>
}

export function makeSendLoop(outbox: OutboxScope): SendLoop {
  const { delivery, device, facts, maySend, proof, pumpAfter, typing, work } = outbox
  const { contactBudget, pacer, retries } = device
  const turns = makeSendTurns(kindOf)
  const sends = new Set<Promise<void>>()

  function kindOf({ message }: Turn): SendKind {
    if (retries.streamEnds(message.id) > 0) return 'suspect'
    return facts.isRetry(message) ? 'retry' : 'fresh'
  }

  async function send(turn: Turn): Promise<void> {
    const { message, recipient } = turn
    const wasProven = proof.remainingMs() === 0
    turns.started(turn)
    typing.end(message)
    await work.run(turn, 'send', async () => {
      const result = await delivery.send(message, recipient, maySend).finally(() => turns.ended(turn))
      await concludeSend(outbox, message, result, wasProven)
    })
  }

  function start(turn: Turn): void {
    const sending = send(turn)
    sends.add(sending)
    void sending.finally(() => sends.delete(sending))
  }

  return {
    sendNext(ready) {
      let left = ready
      for (;;) {
        const turn = maySend() ? turns.choose(left) : undefined
        if (!turn) return
        if (!contactBudget.admits(turn.message)) {
          left = left.filter((other) => other !== turn)
          continue
        }
        const waitMs = typing.isOver(turn.message) ? 0 : pacer.acquire(turn.message.waId)
        if (waitMs === 0) {
          left = left.filter((other) => other !== turn)
          if (kindOf(turn) === 'fresh' && typing.isDue(turn.message)) pumpAfter(typing.start(turn))
          else start(turn)
        } else {
          pumpAfter(waitMs)
          // Over the daily cap, messages that were counted before may still be sent again.
          const kind = kindOf(turn)
          left = left.filter((other) => kindOf(other) !== kind || typing.isOver(other.message))
        }
      }
    },
    untilAnswered: () => Promise.allSettled(sends),
  }
}
