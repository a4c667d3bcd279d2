import type { BlockReason, WaitingMessage, WaitingQuery } from '@wagate/db/queries/messages/waiting-messages'
import { describe, expect, test } from 'vitest'
import { type Available, planLanes } from '../src/outbox/recipient-lanes.ts'
import { makeWaitingList } from '../src/outbox/waiting-list.ts'
import { makeMessage, readFrom } from './waiting-rows.ts'

/** The rows of a device, read as the database would read them. Numbers that start with `new` are not resolved. */
function makeRows(rows: WaitingMessage[], { slow = [] }: { slow?: string[] } = {}) {
  const queries: WaitingQuery[] = []
  let nowMs = 0
  let onRead: (() => void) | undefined
  const list = makeWaitingList(
    {
      async read(query) {
        queries.push(query)
        const found = readFrom(rows, query)
        onRead?.()
        return found
      },
      findLast: async () => rows.at(-1)?.seq,
    },
    () => nowMs,
  )
  const availableOf = (messages: WaitingMessage[]): Available =>
    planLanes(messages, {
      recipientOf: ({ number }) => (number.startsWith('new') ? undefined : number),
      isAcknowledged: () => false,
      workFor: (recipient) => (slow.includes(recipient) ? 'send' : undefined),
      waitMs: () => 0,
      paceMs: () => 0,
      typingMs: () => 0,
      mayBePassed: () => false,
      isRetry: ({ status }) => status === 'sending',
    }).available
  return {
    list,
    queries,
    pass(ms: number) {
      nowMs += ms
    },
    refill: () => list.refill(availableOf),
    /** Runs during the next read, after its rows have been selected. */
    duringRead(happen: () => void) {
      onRead = () => {
        onRead = undefined
        happen()
      }
    },
    ids: () => list.list().map(({ id }) => id),
    /** Refills for as long as there is something to wait for, and answers with how long that took. */
    async refillAll() {
      const startedAtMs = nowMs
      for (;;) {
        const waitMs = await list.refill(availableOf)
        if (waitMs === 0) return nowMs - startedAtMs
        nowMs += waitMs
      }
    },
  }
}

describe('the waiting list', () => {
  test('reads in order, and again only when there may be more', async () => {
    const rows = [makeMessage(1, 'a'), makeMessage(2, 'b')]
    const { list, queries, refill, ids } = makeRows(rows)
    await refill()
    await refill()
    expect(ids()).toEqual(['id-1', 'id-2'])
    expect(queries).toHaveLength(1)
    rows.push(makeMessage(3, 'a'))
    list.mayHaveMore()
    await refill()
    expect(ids()).toEqual(['id-1', 'id-2', 'id-3'])
  })

  test('reads again after a wake during a read, whose message the read did not see', async () => {
    const rows = [makeMessage(1, 'a')]
    const { list, refill, ids } = makeRows(rows)
    const read = refill()
    rows.push(makeMessage(2, 'a'))
    list.mayHaveMore()
    await read
    expect(ids()).toEqual(['id-1'])
    await refill()
    expect(ids()).toEqual(['id-1', 'id-2'])
  })

  test('reads past a recipient with a long queue, at limited intervals', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => makeMessage(index, 'slow'))
    rows.push(makeMessage(1000, 'other'))
    const { list, queries, refillAll, ids } = makeRows(rows, { slow: ['slow'] })
    await refillAll()
    expect(ids()).toContain('id-1000')
    const reads = queries.length
    for (const message of list.list().slice(0, 32)) {
      list.remove(message)
      rows.splice(rows.indexOf(message), 1)
      await refillAll()
    }
    expect(queries.length - reads).toBeLessThanOrEqual(2)
  })

  const kinds: [BlockReason, (index: number) => WaitingMessage][] = [
    ['newContacts', (index) => makeMessage(index, `new ${index}`)],
    ['unprepared', (index) => makeMessage(index, `media ${index}`, { type: 'image' })],
    ['attempted', (index) => makeMessage(index, `unanswered ${index}`, { status: 'sending' })],
  ]

  test('leaves out every form of a number with a long queue: a later message to another form must not be read first', async () => {
    const [longForm, shortForm] = ['5511987654321', '551187654321']
    const rows = Array.from({ length: 300 }, (_, seq) => makeMessage(seq, seq < 290 ? longForm : shortForm))
    const { queries, refillAll } = makeRows(rows)
    await refillAll()
    expect(queries.at(-1)?.exceptNumbers).toEqual([longForm, shortForm])
  })

  test.each(kinds)('reads past ten thousand blocked messages within a second (%s)', async (_, make) => {
    const rows = Array.from({ length: 10_000 }, (_, index) => make(index))
    const { list, refillAll, ids } = makeRows([...rows, makeMessage(10_000, 'known')])
    expect(await refillAll()).toBeLessThan(1000)
    expect(ids()).toContain('id-10000')
    expect(list.list().length).toBeLessThanOrEqual(1024)
  })

  test('reads past ten thousand of every kind, and keeps the order for each recipient', async () => {
    const rows = [
      ...kinds.flatMap(([, make], kind) =>
        Array.from({ length: 10_000 }, (_, index) => make(kind * 10_000 + index)),
      ),
      ...Array.from({ length: 10_000 }, (_, index) => makeMessage(30_000 + index, 'long')),
      makeMessage(40_000, 'media 15000'),
      makeMessage(40_001, 'known'),
    ]
    const { refillAll, ids } = makeRows(rows)
    expect(await refillAll()).toBeLessThan(1000)
    expect(ids()).toContain('id-40001')
    expect(ids()).not.toContain('id-40000')
  })

  test('with a long queue, looks for further messages among the new ones only, and finds each in time', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => makeMessage(index, 'slow'))
    const { list, queries, pass, refillAll, ids } = makeRows(rows, { slow: ['slow'] })
    async function arrive(number: string): Promise<void> {
      rows.push(makeMessage(rows.length, number))
      list.mayHaveMore()
      await refillAll()
      pass(100)
    }
    for (let n = 0; n < 250; n++) await arrive('slow')
    const readsOfAll = queries.filter(({ after }) => after === undefined).length
    for (let n = 0; n < 40; n++) await arrive('slow')
    await arrive('other')
    expect(ids()).toContain(`id-${rows.length - 1}`)
    expect(queries.filter(({ after }) => after === undefined)).toHaveLength(readsOfAll)
    // A message may appear seconds after one with a higher number.
    rows.splice(rows.length - 20, 0, makeMessage(rows.length - 20.5, 'late'))
    await arrive('slow')
    expect(list.list().map(({ number }) => number)).toContain('late')
    expect(queries.at(-1)?.after).toBeGreaterThan(1100)
  })

  test.each(['before a read', 'during a read'])(
    'reads the whole queue again when a message was requeued %s',
    async (when) => {
      const rows = Array.from({ length: 400 }, (_, index) => makeMessage(index, 'slow'))
      rows.push(makeMessage(400, 'other'))
      const { list, queries, pass, refillAll, duringRead, ids } = makeRows(rows, { slow: ['slow', 'other'] })
      async function readAgain() {
        list.mayHaveMore()
        await refillAll()
        pass(100)
      }
      for (let n = 0; n < 150; n++) await readAgain()
      expect(queries.at(-1)?.after).toBe(400)
      const [message] = list.list().filter(({ number }) => number === 'other')
      const requeue = () => list.requeue(message ?? expect.fail('It was not read'))
      if (when === 'before a read') requeue()
      else duringRead(requeue)
      await readAgain()
      await readAgain()
      expect(ids()).toContain('id-400')
    },
  )

  test('does not read a skipped message again before it is woken', async () => {
    const row = makeMessage(1, 'a')
    const { list, refill } = makeRows([row])
    await refill()
    list.skip(row)
    await refill()
    expect(list.list()).toEqual([])
    list.mayHaveMore()
    await refill()
    expect(list.list()).toEqual([row])
  })

  test('may be read again after a read that failed', async () => {
    let isAway = true
    const list = makeWaitingList({
      async read() {
        if (isAway) throw new Error('away')
        return [makeMessage(1, 'a')]
      },
      findLast: async () => undefined,
    })
    const availableOf = (): Available => ({
      open: 0,
      stocked: new Set(),
      blocked: { newContacts: 0, unprepared: 0, attempted: 0 },
    })
    await expect(list.refill(availableOf)).rejects.toThrow('away')
    isAway = false
    await list.refill(availableOf)
    expect(list.list()).toHaveLength(1)
  })
})
