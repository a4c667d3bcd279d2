import { expect, test } from 'vitest'
import { makeHands } from '../src/outbox/message-hands.ts'
import { makeRecipientPace } from '../src/outbox/pacer.ts'
import { type LaneFacts, planLanes } from '../src/outbox/recipient-lanes.ts'
import { withKnownNumbers } from '../src/outbox/waiting-queue.ts'
import { makeMessage } from './waiting-rows.ts'

const number = '4915187654321'
const jid = `${number}@s.whatsapp.net`
const lidJid = '100000000000017@lid'

const toLid = (seq: number, known = lidJid) => makeMessage(seq, known, { recipientJid: lidJid })
const toNumber = (seq: number) => makeMessage(seq, number)

function openLanes() {
  const hands = makeHands()
  const facts: LaneFacts = {
    recipientOf: ({ recipientJid, number }) => recipientJid ?? `${number}@s.whatsapp.net`,
    isAcknowledged: hands.isAcknowledged,
    workFor: hands.workFor,
    waitMs: () => 0,
    paceMs: () => 0,
    typingMs: () => 0,
    mayBePassed: () => false,
    isRetry: () => false,
  }
  return { hands, facts }
}

const readyOf = (messages: ReturnType<typeof toLid>[], facts: LaneFacts) =>
  planLanes(messages, facts).ready.map(({ message, recipient }) => [message.seq, recipient])

test('messages to a number and to its LID are in one lane, each to its own address', () => {
  const { facts } = openLanes()
  expect(readyOf([toLid(1, number), toNumber(2)], facts)).toEqual([[1, lidJid]])
  expect(readyOf([toNumber(1), toLid(2, number)], facts)).toEqual([[1, jid]])
})

test('messages to both forms of a number and to its LID are in one lane, also before the address is looked up', () => {
  const { facts } = openLanes()
  const [longForm, shortForm] = ['5511987654321', '551187654321']
  const toForm = (seq: number, form = longForm) => makeMessage(seq, form)
  for (const messages of [
    [toForm(1), toForm(2, shortForm), toLid(3, shortForm)],
    [toLid(1, shortForm), toForm(2), toForm(3, shortForm)],
  ])
    expect(readyOf(messages, facts).map(([seq]) => seq)).toEqual([1])
  const unresolved = {
    ...facts,
    recipientOf: ({ recipientJid }: ReturnType<typeof toLid>) => recipientJid ?? undefined,
  }
  expect(readyOf([toForm(1), toLid(2, shortForm)], unresolved)).toEqual([])
})

test('a LID without a known number has a lane of its own, and other LIDs have others', () => {
  const { facts } = openLanes()
  const other = makeMessage(3, '100000000000018@lid', { recipientJid: '100000000000018@lid' })
  expect(readyOf([toLid(1), toNumber(2), other, toLid(4)], facts)).toEqual([
    [1, lidJid],
    [2, jid],
    [3, '100000000000018@lid'],
  ])
})

test('when the number is learnt while messages to both are on the wire, the next one waits for both', () => {
  const { hands, facts } = openLanes()
  const messages = [toLid(1), toNumber(2), toLid(3), toNumber(4)]
  const [first, second] = planLanes(messages, facts).ready
  if (!first || !second) throw new Error('Two messages may leave')
  for (const turn of [first, second])
    for (const move of ['claim', 'claimed', 'write'] as const) hands.move(turn, move)
  for (const message of messages) message.number = number
  hands.refresh()
  expect(readyOf(messages, facts)).toEqual([])
  hands.move(second, 'acknowledge')
  expect(readyOf(messages, facts)).toEqual([])
  hands.move(first, 'acknowledge')
  expect(readyOf(messages, facts)).toEqual([[3, lidJid]])
})

test('a message to a LID does not overtake one to its number that is still to be looked up', () => {
  const facts: LaneFacts = {
    ...openLanes().facts,
    recipientOf: ({ recipientJid }) => recipientJid ?? undefined,
  }
  const plan = planLanes([toNumber(1), toLid(2, number)], facts)
  expect([plan.ready, plan.unknown.map(({ seq }) => seq)]).toEqual([[], [1]])
})

test('all messages to one LID that are read have the number of the latest, and earlier reads hear of it', async () => {
  const known: string[] = []
  const rows = [toLid(1), toLid(2, '4915187654320'), toNumber(3), toLid(4, number)]
  const queue = withKnownNumbers(
    { read: async () => rows, findLast: async () => 4 },
    { find: async () => undefined, onKnown: (lid, number) => void known.push(`${lid} ${number}`) },
  )
  const read = await queue.read({ except: [], exceptNumbers: [], without: [], limit: 4 })
  expect(read.map((message) => message.number)).toEqual([number, number, number, number])
  expect(known).toEqual([`${lidJid} ${number}`])
  expect(readyOf(read, openLanes().facts)).toEqual([[1, lidJid]])
})

test('a lane keeps the interval of the one that it was before', () => {
  const nowMs = 10_000
  const pace = makeRecipientPace(2000, {}, () => nowMs)
  pace.noteSent(lidJid)
  pace.move(lidJid, jid)
  expect([pace.waitMs(jid), pace.waitMs(lidJid)]).toEqual([2000, 0])
})

test('messages that are read have the numbers that the device knows', async () => {
  const asked: string[] = []
  const queue = withKnownNumbers(
    { read: async () => [toLid(1), toNumber(2)], findLast: async () => 2 },
    {
      async find(lid) {
        asked.push(lid)
        return number
      },
      onKnown: () => undefined,
    },
  )
  const read = await queue.read({ except: [], exceptNumbers: [], without: [], limit: 2 })
  expect(read.map((message) => [message.number, message.recipientJid])).toEqual([
    [number, lidJid],
    [number, null],
  ])
  expect(asked).toEqual([lidJid])
})

test('messages to two forms of one number leave one after the other', () => {
  const messages = ['5511955501000', '551155501000'].map((number, index) => makeMessage(index, number))
  const plan = planLanes(messages, {
    recipientOf: () => '551155501000@jid',
    isAcknowledged: () => false,
    workFor: () => undefined,
    waitMs: () => 0,
    paceMs: () => 0,
    isRetry: () => false,
    typingMs: () => 0,
    mayBePassed: () => false,
  })
  expect(plan.ready.map(({ message }) => message.number)).toEqual(['5511955501000'])
})
