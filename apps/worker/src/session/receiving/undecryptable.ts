import { undecryptableType } from '@wagate/db/queries/credentials/device-auth'
import { makeNaturalBatch } from '@wagate/runtime/natural-batch'
import { z } from 'zod'
import type { AuthStore } from '../credentials/auth-store.ts'
import type { Persist } from '../credentials/persistence.ts'

const text = z.string().nullable().optional()
const noteSchema = z.object({
  waId: z.string(),
  number: z.string().nullable(),
  contactJid: z.string().nullable(),
  writtenOn: z.enum(['phone', 'companion']).optional(),
  username: text,
  pushName: text,
  writtenAt: text,
  failedAtMs: z.number(),
})

/** What is known of a message that could not be decrypted. */
export type UndecryptableNote = z.infer<typeof noteSchema>

/** Where the notes of a device are. Null for none. */
export type NoteStore = { read(): Promise<unknown>; write(notes: UndecryptableNote[] | null): Promise<void> }

const noteId = '-'

export function makeNoteStore(
  { readOwn, writeOwn }: Pick<AuthStore, 'readOwn' | 'writeOwn'>,
  persist: Persist,
): NoteStore {
  return {
    read: () => persist(async () => (await readOwn(undecryptableType, [noteId])).get(noteId)),
    write: (notes) => persist(() => writeOwn(undecryptableType, new Map([[noteId, notes]]))),
  }
}

/** Messages that could not be decrypted, and were asked for again. */
export type Undecryptable = {
  /** Continues with those of an earlier session. Call before the first stanza arrives. */
  resume(): void
  /** `isLast`: the sender will not send it again. Resolves when it is noted, or reported. */
  failed(note: UndecryptableNote, isLast: boolean): Promise<void>
  opened(waId: string): void
  /** The session has ended. The next one continues with them. */
  close(): void
}

type Options = {
  store: NoteStore
  report(note: UndecryptableNote): Promise<void>
  onError(error: unknown): void
  waitMs?: number
}

/** In which a sender that is online has answered several requests. */
const graceMs = 60_000
/** For what waited at WhatsApp: it may bring the content of a message that failed in an earlier session. */
const arrivalMs = 5000
const messagesMax = 500
const reportedMax = 5000

type Waiting = { note: UndecryptableNote; timer: NodeJS.Timeout | undefined }

/**
 * Reports each message once, when it was not decrypted in time or at the last try. WhatsApp does not deliver it again, because
 * Baileys refuses it with an acknowledgement: so it is noted in the database first, and a later session or worker reports it.
 */
export function makeUndecryptable({ store, report, onError, waitMs = graceMs }: Options): Undecryptable {
  const waiting = new Map<string, Waiting>()
  const reported = new Set<string>()
  let resumed: Promise<void> = Promise.resolve()
  let isClosed = false

  const writes = makeNaturalBatch<undefined, undefined>(
    async (items) => {
      // Earlier notes would be lost.
      await resumed
      const notes = [...waiting.values()].map(({ note }) => note)
      await store.write(notes.length > 0 ? notes : null)
      return items
    },
    { itemsMax: messagesMax },
  )

  function wait(note: UndecryptableNote, forMs: number): void {
    const timer = setTimeout(() => void end(note).catch(onError), forMs)
    waiting.set(note.waId, { note, timer: timer.unref() })
  }

  async function end(note: UndecryptableNote): Promise<void> {
    clearTimeout(waiting.get(note.waId)?.timer)
    if (reported.size >= reportedMax) reported.clear()
    reported.add(note.waId)
    await report(note)
    forget(note.waId)
  }

  function forget(waId: string): void {
    clearTimeout(waiting.get(waId)?.timer)
    if (waiting.delete(waId)) writes.add(undefined).catch(onError)
  }

  async function readNotes(): Promise<void> {
    const notes = z.array(noteSchema).safeParse(await store.read()).data ?? []
    for (const note of notes) {
      if (isClosed || waiting.has(note.waId)) continue
      wait(note, Math.max(arrivalMs, note.failedAtMs + waitMs - Date.now()))
    }
  }

  return {
    resume() {
      resumed = readNotes()
      resumed.catch(onError)
    },
    async failed(note, isLast) {
      if (reported.has(note.waId)) return
      const isKnown = waiting.has(note.waId)
      if (isLast || (!isKnown && waiting.size >= messagesMax)) return end(note)
      if (isKnown) return
      wait(note, waitMs)
      await writes.add(undefined)
    },
    opened(waId) {
      reported.delete(waId)
      forget(waId)
    },
    close() {
      isClosed = true
      for (const { timer } of waiting.values()) clearTimeout(timer)
    },
  }
}
