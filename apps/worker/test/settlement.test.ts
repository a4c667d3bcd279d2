import type { Logger } from '@wagate/runtime/logger'
import { expect, test } from 'vitest'
import type { OutboxContext, OutboxDevice } from '../src/outbox/outbox-context.ts'
import { makeRetries } from '../src/outbox/retries.ts'
import { makeSettlement } from '../src/outbox/settlement.ts'
import { makeMessage } from './waiting-rows.ts'

type Line = Record<string, unknown>
type Parts = Parameters<typeof makeSettlement>[2]

/** What is logged when the work for a message throws. */
async function logOf(reference: string | null): Promise<Line[]> {
  const lines: Line[] = []
  const logger = { warn: (fields: Line, sentence: string) => lines.push({ ...fields, sentence }) }
  const context = {
    logger: logger as unknown as Logger,
    config: { outbox: { mediaRetryMs: 1000 } },
    statements: { setbacks: { add: async () => undefined } },
  } as unknown as OutboxContext
  const device = { id: 7, lease: { shard: 1 }, retries: makeRetries(), pace: { pacer: {} } }
  const settlement = makeSettlement(context, device as unknown as OutboxDevice, {} as Parts)
  const turn = { message: makeMessage(1, 'one', { reference }), recipient: 'one@jid' }
  await settlement.noteFailed(turn, 'send', new Error('The socket is gone'))
  return lines
}

const line = {
  err: expect.objectContaining({ message: 'The socket is gone' }),
  deviceId: 7,
  messageId: 'id-1',
  sentence: 'Sending a message failed, will retry',
}

test.each([
  ['with the reference of its message', 'order 4711', [{ ...line, reference: 'order 4711' }]],
  ['without one if it has none', null, [line]],
])('a failed attempt is logged %s', async (_, reference, expected) => {
  expect(await logOf(reference)).toEqual(expected)
})
