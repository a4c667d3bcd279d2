import type { Logger } from '@wagate/runtime/logger'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import { type BinaryNode, isLidUser } from 'baileys'
import type { MessageStanza } from './message-stanza.ts'
import { type Received, readUnavailable, type StanzaFacts, withoutContent } from './received.ts'
import { cleanId, readPushName, readTime, readUsername } from './received-source.ts'
import { isLastTry, triesOf } from './unavailable.ts'
import { makeUndecryptable, type NoteStore } from './undecryptable.ts'

type Hooks = {
  store(received: Received): Promise<void>
  /** The phone number behind a LID, if it is known. */
  findNumber(lid: string): Promise<string | null>
  /** Of messages that could not be decrypted. */
  notes: NoteStore
  logger: Logger
}

export type StanzaStore = ReturnType<typeof makeStanzaStore>

/** What the stanzas of one socket bring, on its way to Postgres: with its number, the facts of its stanza, or without content. */
export function makeStanzaStore({ store, findNumber, notes, logger }: Hooks) {
  const undecryptable = makeUndecryptable({
    store: notes,
    async report({ failedAtMs: _, ...note }) {
      const { username = null, pushName = null, writtenAt = null, ...source } = note
      const received = await withNumber(withoutContent(source, 'undecryptable'))
      await store({ ...received, username, pushName, writtenAt })
    },
    onError: (error) => logger.warn({ err: error }, 'Storing that a message cannot be decrypted failed'),
  })

  async function withNumber(received: Received): Promise<Received> {
    const { number, contactJid } = received
    if (number !== null || !contactJid || !isLidUser(contactJid)) return received
    return { ...received, number: await findNumber(contactJid) }
  }

  async function storeAll({ node, isPeer }: MessageStanza, received: Received[]): Promise<void> {
    // What the phone sends again is in a stanza of its own, and has its own facts.
    const facts: StanzaFacts = isPeer ? { isResent: true } : factsOf(node)
    for (const one of received) await store({ ...(await withNumber(one)), ...facts })
  }

  /** Stores a message that this device cannot read. */
  async function storeUnavailable(stanza: MessageStanza, reason: UnavailableReason): Promise<void> {
    const received = readUnavailable(stanza.key, stanza.writtenOn, reason)
    if (received) await storeAll(stanza, [received])
  }

  /** Resolves when it is noted, so that it may be refused. */
  async function noteFailure({ key, node, isPeer, isHidden, writtenOn }: MessageStanza): Promise<void> {
    const received = isPeer || isHidden ? undefined : readUnavailable(key, writtenOn, 'undecryptable')
    if (!received) return
    const { waId, number, contactJid } = received
    const { isResent: _, ...facts } = factsOf(node)
    const own = received.writtenOn && { writtenOn: received.writtenOn }
    const note = { waId, number, contactJid, ...own, ...facts, failedAtMs: Date.now() }
    await undecryptable.failed(note, isLastTry(node))
  }

  return {
    storeAll,
    storeUnavailable,
    noteFailure,
    noteDecrypted: ({ key }: MessageStanza) => undecryptable.opened(cleanId(key.id ?? '')),
    resume: undecryptable.resume,
    close: undecryptable.close,
  }
}

function factsOf(node: BinaryNode): StanzaFacts {
  return {
    username: readUsername(node),
    pushName: readPushName(node),
    writtenAt: readTime(Number(node.attrs.t)),
    isResent: triesOf(node) > 0,
  }
}
