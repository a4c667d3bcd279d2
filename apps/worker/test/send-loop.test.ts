import { expect, test } from 'vitest'
import type { OutboxScope } from '../src/outbox/outbox-scope.ts'
import { makeRecipientWork } from '../src/outbox/recipient-work.ts'
import { makeSendLoop } from '../src/outbox/send-loop.ts'
import type { SendResult } from '../src/outbox/send-result.ts'

test('a message is answered only when what follows from its answer has begun', async () => {
  const message = { id: '1', waId: 'A' }
  let answer: (result: SendResult) => void = () => undefined
  const recorded: string[] = []
  const outbox = {
    acknowledged: { add: ({ waId }: typeof message) => recorded.push(waId) },
    delivery: { send: () => new Promise<SendResult>((resolve) => (answer = resolve)) },
    device: {
      contactBudget: { admits: () => true },
      pacer: { acquire: () => 0 },
      retries: { streamEnds: () => 0, forget: () => undefined },
    },
    facts: { isRetry: () => false },
    maySend: () => true,
    proof: { remainingMs: () => 0 },
    typing: { isOver: () => false, isDue: () => false, end: () => undefined },
    work: makeRecipientWork({ onFailed: () => undefined, onDone: () => undefined }),
  } as unknown as OutboxScope
  const sends = makeSendLoop(outbox)
  sends.sendNext([{ message, recipient: 'B' }] as never)

  answer({ kind: 'acknowledged' })
  await sends.untilAnswered()
  expect(recorded).toEqual(['A'])
})
