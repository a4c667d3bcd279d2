import { parseEventId } from '@wagate/shared/event-ids'

type StreamedEvent = { id: string; type: string; data: Record<string, unknown> }

export type StreamClient = {
  status: number
  headers: Headers
  events: StreamedEvent[]
  /** As a browser would send it when it connects again. */
  lastEventId(): string | undefined
  heartbeats(): number
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>
  close(): void
}

/** Reads server-sent events as https://html.spec.whatwg.org/multipage/server-sent-events.html says. */
export async function openStream(url: string, headers: Record<string, string> = {}): Promise<StreamClient> {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  const events: StreamedEvent[] = []
  let lastId: string | undefined
  let heartbeats = 0

  function take(block: string): void {
    if (block.startsWith(':')) heartbeats += 1
    const fields = new Map(
      block.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^.*?: /, '')]),
    )
    const [id, data] = [fields.get('id'), fields.get('data')]
    if (id !== undefined) lastId = id
    if (id !== undefined && !parseEventId(id)) throw new Error(`The id of an event is ${id}`)
    if (data !== undefined)
      events.push({ id: id ?? '', type: fields.get('event') ?? '', data: JSON.parse(data) })
  }

  async function read(): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) take(block)
    }
  }

  return {
    status: response.status,
    headers: response.headers,
    events,
    lastEventId: () => lastId,
    heartbeats: () => heartbeats,
    ended: read().catch(() => undefined),
    close: () => abort.abort(),
  }
}
