import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import { expect, test } from 'vitest'
import { planLanes } from '../src/outbox/recipient-lanes.ts'
import { makeTyping } from '../src/outbox/send-loop.ts'
import { openSendLoop } from './send-loops.ts'
import { makeMessage } from './waiting-rows.ts'

/** A send loop whose pacer lets this many messages go, without a socket and a clock. */
function open({ tokens = Number.POSITIVE_INFINITY, retries = [] as string[] } = {}) {
  let nowMs = 0
  let left = tokens
  const shown: string[] = []
  const sent: string[] = []
  const pausesMs: number[] = []
  const sock = {
    async sendPresenceUpdate(state: string, jid?: string) {
      shown.push(`${state} ${jid}`)
    },
  }
  const typing = makeTyping(
    sock,
    () => undefined,
    () => nowMs,
  )
  const isRetry = ({ id }: { id: string }) => retries.includes(id)
  const { hands, loop } = openSendLoop({
    typing,
    attempt({ id }) {
      sent.push(id)
      return new Promise(() => undefined)
    },
    acquire: () => (left-- > 0 ? 0 : 5000),
    isRetry,
    pumpAfter: (ms) => void pausesMs.push(ms),
  })
  const plan = (messages: WaitingMessage[]) =>
    planLanes(messages, {
      recipientOf: ({ number }) => number,
      isAcknowledged: hands.isAcknowledged,
      workFor: hands.workFor,
      waitMs: () => 0,
      paceMs: () => 0,
      isRetry,
      typingMs: typing.remainingMs,
      mayBePassed: () => false,
    })
  return {
    shown,
    sent,
    pausesMs,
    typing,
    plan,
    pump: (messages: WaitingMessage[]) => loop.start(plan(messages)),
    advance: (ms: number) => (nowMs += ms),
  }
}

test('a recipient sees the sender type before its message leaves, and others do not wait for it', () => {
  const messages = [makeMessage(1, 'a', { typingSeconds: 3 }), makeMessage(2, 'a'), makeMessage(3, 'b')]
  const outbox = open()
  outbox.pump(messages)
  expect(outbox.shown).toEqual(['composing a'])
  expect(outbox.sent).toEqual(['id-3'])
  expect(outbox.pausesMs).toEqual([3000])
  const plan = outbox.plan(messages.slice(0, 2))
  expect(plan).toMatchObject({ ready: [], pauseMs: 3000, available: { open: 0 } })
  outbox.advance(3000)
  outbox.pump(messages.slice(0, 2))
  expect(outbox.sent).toEqual(['id-3', 'id-1'])
  expect(outbox.shown).toHaveLength(1)
})

test('a recipient of audio sees the sender record', () => {
  const { pump, shown } = open()
  const uploadedContent = Buffer.from('uploaded')
  pump([makeMessage(1, 'a', { typingSeconds: 1, type: 'audio', uploadedContent })])
  expect(shown).toEqual(['recording a'])
})

test('a message that is sent again is not announced again', () => {
  const { pump, shown, sent } = open({ retries: ['id-1'] })
  pump([makeMessage(1, 'a', { typingSeconds: 3 })])
  expect(shown).toEqual([])
  expect(sent).toEqual(['id-1'])
})

test('the pacer counts a message once, and recipients see typing only when it lets the message go', () => {
  const messages = ['a', 'b', 'c'].map((number, index) => makeMessage(index, number, { typingSeconds: 2 }))
  const outbox = open({ tokens: 2 })
  outbox.pump(messages)
  expect(outbox.shown).toEqual(['composing a', 'composing b'])
  outbox.advance(2000)
  outbox.pump(messages.toReversed())
  expect(outbox.sent.toSorted()).toEqual(['id-0', 'id-1'])
  expect(outbox.shown).toHaveLength(2)
})

test('names the messages that did not leave before the connection ended', () => {
  const outbox = open()
  const messages = [makeMessage(1, 'a', { typingSeconds: 2 }), makeMessage(2, 'b', { typingSeconds: 4 })]
  outbox.pump(messages)
  outbox.advance(2000)
  outbox.pump(messages)
  expect(outbox.sent).toEqual(['id-1'])
  expect(outbox.typing.stop()).toEqual(['wa-2'])
})
