import type { Logger } from '@wagate/runtime/logger'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import { type BinaryNode, isLidUser } from 'baileys'
import type { MessageStanza } from './message-stanza.ts'
import { type Received, readUnavailable, type StanzaFacts } from './received.ts'
import { readPushName, readTime, readUsername } from './received-source.ts'
import { isLastTry, makeUndecryptable, triesOf } from './unavailable.ts'

type Hooks = {
  store(received: Received): Promise<void>
  /** The phone number behind a LID, if it is known. */
  findNumber(lid: string): Promise<string | null>
  logger: Logger
}

export type StanzaStore = ReturnType<typeof makeStanzaStore>

/** What the stanzas of one socket bring, on its way to Postgres: with its number, the facts of its stanza, or without content. */
export function makeStanzaStore({ store, findNumber, logger }: Hooks) {
  const undecryptable = makeUndecryptable()

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

  function noteFailure(stanza: MessageStanza): void {
    if (stanza.isPeer || stanza.isHidden || !readUnavailable(stanza.key, stanza.writtenOn, 'undecryptable'))
      return
    const report = () => {
      // It is not acknowledged in any case, and the next connection may get it again.
      storeUnavailable(stanza, 'undecryptable').catch((error: unknown) =>
        logger.warn({ err: error }, 'Storing that a message cannot be decrypted failed'),
      )
    }
    undecryptable.failed(stanza.key.id ?? '', report, isLastTry(stanza.node))
  }

  return {
    storeAll,
    storeUnavailable,
    noteFailure,
    noteDecrypted: ({ key }: MessageStanza) => undecryptable.opened(key.id ?? ''),
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
