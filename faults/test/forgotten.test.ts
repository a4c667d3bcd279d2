import type { LogLine } from '@wagate/test-kit/load/phones'
import type { MessageFacts } from '@wagate/test-kit/load/records'
import { expect, test } from 'vitest'
import { rememberedBy } from '../forgotten.ts'

const record = (id: string, status: string) => ({ id, waId: `wa-${id}`, status }) as MessageFacts
const line = (id: string) => ({ wa_message_id: `wa-${id}`, receipt: true }) as LogLine
const sent = (messageId: string) =>
  ({ messageId }) as Parameters<ReturnType<typeof rememberedBy>['sent']>[0][number]
const written = (waId: string) => ({ waId, sender: '1', text: waId })

const former = {
  messages: [record('gone', 'read'), record('behind', 'read'), record('same', 'delivered')],
  inbound: [written('heard'), written('unheard')].map(({ waId, sender }) => ({ waId, sender, body: waId })),
}
const records = [record('behind', 'sent'), record('same', 'delivered')]
const all = ['gone', 'behind', 'same', 'unknown']

test('only what the former server had stored is forgotten', () => {
  const remembered = rememberedBy(records, former)
  expect(remembered.sent(all.map(sent))).toEqual(['behind', 'same', 'unknown'].map(sent))
  expect(remembered.log(all.map(line))).toEqual([
    { ...line('behind'), receipt: false },
    line('same'),
    line('unknown'),
  ])
  expect(remembered.opened(new Set(['wa-behind', 'wa-unknown']))).toEqual(new Set(['wa-unknown']))
  const stored = former.inbound.slice(0, 1)
  expect(remembered.written(['heard', 'unheard', 'never'].map(written), stored)).toEqual(
    ['heard', 'never'].map(written),
  )
})

test('nothing is forgotten without a former server', () => {
  const remembered = rememberedBy(records)
  expect(remembered.sent(all.map(sent))).toEqual(all.map(sent))
  expect(remembered.log(all.map(line))).toEqual(all.map(line))
  expect(remembered.opened(new Set(['wa-behind']))).toEqual(new Set(['wa-behind']))
  expect(remembered.written([written('unheard')], [])).toEqual([written('unheard')])
})
