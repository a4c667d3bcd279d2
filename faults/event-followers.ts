import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { expect } from 'vitest'
import { note } from './figures.ts'
import type { World } from './world.ts'

/** Programs that follow the account without a webhook, each with the cursors that it was given. */
export type EventFollowers = {
  /** Each has seen every event since it began, and every message that has changed. */
  expectAll(name: string): Promise<void>
  close(): Promise<void>
}

type Page = {
  events: { event_id: string; data: { message?: { message_id: string } | null } }[]
  next: string
}
type Changes = { messages: { message_id: string }[]; next_updated_after: string }

const pauseMs = 50
const seenWithinMs = 60_000

/** A stream that stays open, or comes back when it breaks, a poll of events, and one of updated messages. */
export async function openEventFollowers({ gateway, devnet }: World): Promise<EventFollowers> {
  const closing = new AbortController()
  const streamed = new Set<string>()
  const polled = new Map<string, string | undefined>()
  const updated = new Set<string>()
  const from = ((await get('events', { after: 'latest' })) as Page | undefined)?.next ?? ''

  /** Undefined while the gateway refuses. */
  async function get(operation: string, query: Record<string, string>): Promise<unknown> {
    const answer = await gateway.get(operation, query).catch(() => undefined)
    return answer?.status === 200 ? answer.body : undefined
  }

  /** What it reads is stored with the cursor behind it, as docs/events.md asks. */
  async function follow(read: (cursor: string) => Promise<string | undefined>): Promise<void> {
    for (let cursor = from; !closing.signal.aborted; ) {
      cursor = (await read(cursor)) ?? cursor
      await delay(pauseMs)
    }
  }

  async function pollEvents(after: string): Promise<string | undefined> {
    const page = (await get('events', { after })) as Page | undefined
    for (const { event_id, data } of page?.events ?? []) polled.set(event_id, data.message?.message_id)
    return page?.next
  }

  async function pollMessages(after: string): Promise<string | undefined> {
    const page = (await get('messages', { updated_after: after })) as Changes | undefined
    for (const { message_id } of page?.messages ?? []) updated.add(message_id)
    return page?.next_updated_after
  }

  async function readStream(after: string): Promise<string | undefined> {
    let last: string | undefined
    try {
      const response = await fetch(`${devnet.apiUrl}/events/stream`, {
        headers: { 'x-api-key': devnet.adminKey.apiKey ?? '', 'last-event-id': after },
        signal: closing.signal,
      })
      if (!response.ok || !response.body) return undefined
      let unread = ''
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const frames = (unread + chunk).split('\n\n')
        unread = frames.pop() ?? ''
        for (const frame of frames) {
          last = /^id: (.*)$/m.exec(frame)?.[1] ?? last
          if (last && frame.includes('\ndata: ')) streamed.add(last)
        }
      }
    } catch {
      // The API ended it, or could not open it.
    }
    return last
  }

  const following = [follow(readStream), follow(pollEvents), follow(pollMessages)]

  /** From the beginning to the present: no cursor that was given during the faults decides what is in it. */
  async function listAll(): Promise<Map<string, string | undefined>> {
    const all = new Map<string, string | undefined>()
    for (let after = from; ; ) {
      const page = (await get('events', { after })) as (Page & { has_more: boolean }) | undefined
      if (!page) throw new Error('No events')
      for (const { event_id, data } of page.events) all.set(event_id, data.message?.message_id)
      if (!page.has_more) return all
      after = page.next
    }
  }

  return {
    async expectAll(name) {
      const all = await listAll()
      const missing = () => ({
        streamed: [...all.keys()].filter((id) => !streamed.has(id)),
        polled: [...all.keys()].filter((id) => !polled.has(id)),
        updated: [...all.values()].filter((id) => id !== undefined && !updated.has(id)),
      })
      await until('every follower has seen everything', { withinMs: seenWithinMs, everyMs: 100 }, () =>
        Object.values(missing()).every((ids) => ids.length === 0),
      )
        // The lists say more.
        .catch(() => undefined)
      note(name, { streamed: streamed.size, polled: polled.size, 'messages updated': updated.size })
      expect(all.size).toBeGreaterThan(0)
      expect(missing()).toEqual({ streamed: [], polled: [], updated: [] })
    },
    async close() {
      closing.abort()
      await Promise.all(following)
    },
  }
}
