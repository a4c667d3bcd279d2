import type { WaitingMessage } from '@wagate/db/queries/outbox'
import { describe, expect, it } from 'vitest'
import { makeWaitingList } from '../src/outbox/waiting-list.ts'

function makeMessage(index: number, number: string): WaitingMessage {
  return {
    id: `id-${index}`,
    createdAt: '2026-01-01',
    waId: `wa-${index}`,
    number,
    recipientJid: null,
    type: 'text',
    body: 'x',
    url: null,
    filename: null,
    uploadedContent: null,
  }
}

/** The rows of a device, read as the database would read them. */
function makeRows(rows: WaitingMessage[]) {
  let reads = 0
  const list = makeWaitingList(async ({ except, exceptNumbers, limit }) => {
    reads += 1
    return rows
      .filter(({ id, number }) => !except.includes(id) && !exceptNumbers.includes(number))
      .slice(0, limit)
  })
  return { list, countReads: () => reads }
}

const nothingBlocked = () => false

describe('the waiting list', () => {
  it('reads in order, and again only when somebody says that there is more', async () => {
    const rows = [makeMessage(1, 'a'), makeMessage(2, 'b')]
    const { list, countReads } = makeRows(rows)
    await list.refill(nothingBlocked)
    await list.refill(nothingBlocked)
    expect(list.list().map(({ id }) => id)).toEqual(['id-1', 'id-2'])
    expect(countReads()).toBe(1)
    rows.push(makeMessage(3, 'a'))
    list.mayHaveMore()
    await list.refill(nothingBlocked)
    expect(list.list().map(({ id }) => id)).toEqual(['id-1', 'id-2', 'id-3'])
  })

  it('sees past a recipient with a long queue that stands still', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => makeMessage(index, 'slow'))
    rows.push(makeMessage(1000, 'other'))
    const { list } = makeRows(rows)
    const isBlocked = ({ number }: WaitingMessage) => number === 'slow'
    await list.refill(isBlocked)
    await list.refill(isBlocked)
    expect(list.list().some(({ number }) => number === 'other')).toBe(true)
  })

  it('does not read a skipped message again before it is woken', async () => {
    const row = makeMessage(1, 'a')
    const { list } = makeRows([row])
    await list.refill(nothingBlocked)
    list.skip(row)
    await list.refill(nothingBlocked)
    expect(list.list()).toEqual([])
    list.mayHaveMore()
    await list.refill(nothingBlocked)
    expect(list.list()).toEqual([row])
  })

  it('may be read again after a read that failed', async () => {
    let isAway = true
    const list = makeWaitingList(async () => {
      if (isAway) throw new Error('away')
      return [makeMessage(1, 'a')]
    })
    await expect(list.refill(nothingBlocked)).rejects.toThrow('away')
    isAway = false
    await list.refill(nothingBlocked)
    expect(list.list()).toHaveLength(1)
  })
})
