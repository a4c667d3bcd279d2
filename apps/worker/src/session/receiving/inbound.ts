import type { Logger } from '@wagate/runtime/logger'
import type { UnavailableReason } from '@wagate/shared/unavailable'
import {
  type BinaryNode,
  isJidNewsletter,
  isJidStatusBroadcast,
  type UserFacingSocketConfig,
  type WASocket,
} from 'baileys'
import { intercept } from '../network/intercept.ts'
import type { MessageSecrets } from './message-secrets.ts'
import { type MessageStanza, readMessageStanza } from './message-stanza.ts'
import { emptyPlaintext, type OpenedMessage, openMessage } from './opened-message.ts'
import type { Received } from './received.ts'
import { type ReceivedSource, readOwnSource, readSource } from './received-source.ts'
import { makeStanzaStore, type StanzaStore } from './stanza-store.ts'
import { unavailableReasonOf } from './unavailable.ts'
import type { NoteStore } from './undecryptable.ts'
import type { UnstoredStanzas } from './unstored-stanzas.ts'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>

export type InboundHooks = {
  me(): { id: string; lid?: string | undefined } | undefined
  /** Resolves when it is stored. Rejects when it cannot be stored during this session. */
  store(received: Received): Promise<void>
  isStored(source: ReceivedSource): Promise<boolean>
  /** The phone number behind a LID, if it is known. */
  findNumber(lid: string): Promise<string | null>
  secrets: MessageSecrets
  /** Of messages that could not be decrypted. */
  notes: NoteStore
  unstored: UnstoredStanzas
  logger: Logger
}

/** Handles the messages of one socket between the wire and Baileys. */
export type Inbound = {
  /** Call before the first stanza arrives. */
  attach(sock: WASocket): void
  /** Call for a message that was just decrypted, before its key is deleted. */
  storePlaintext(ciphertext: Uint8Array, plaintext: Uint8Array): Promise<void>
  /** Call when the connection has ended. */
  close(): void
  /** Returns the repository that Baileys decrypts with. */
  wrap(repository: Repository): Repository
}

/**
 * Stores a message while Baileys decrypts it, so that everything Baileys reports to WhatsApp afterwards is true. The seam
 * is the Signal repository: it receives the same byte array that the stanza holds, which identifies the stanza.
 *
 * Baileys answers a message only with a receipt. WhatsApp's servers count it as delivered when it is acknowledged.
 */
export function makeInbound(hooks: InboundHooks): Inbound {
  const { me, isStored, secrets, unstored, logger } = hooks
  const stanzas = new WeakMap<Uint8Array, MessageStanza>()
  const opened = new WeakMap<Uint8Array, OpenedMessage>()
  const stored = makeStanzaStore(hooks)
  let socket: WASocket | undefined

  const passUnavailable = makePassUnavailable(stored, unstored, acknowledge)

  function acknowledge(node: BinaryNode): void {
    // After the receipt, which Baileys sends in this turn of the event loop.
    setImmediate(() => socket?.sendMessageAck(node).catch(() => undefined))
  }

  function succeed<Result>(ciphertext: Uint8Array, result: Result): Result {
    const stanza = stanzas.get(ciphertext)
    if (!stanza) return result
    stanza.decrypted += 1
    if (stanza.decrypted < stanza.ciphertexts.length) return result
    unstored.release(stanza.node)
    stored.noteDecrypted(stanza)
    acknowledge(stanza.node)
    return result
  }

  /** A message that is delivered again cannot be decrypted again: its key is used up. */
  async function recover(ciphertext: Uint8Array, error: unknown): Promise<Uint8Array> {
    const stanza = stanzas.get(ciphertext)
    const source = stanza && (readSource(stanza.key) ?? readOwnSource(stanza.key, stanza.writtenOn))
    if (source && (await isStored(source))) return succeed(ciphertext, emptyPlaintext)
    logger.debug({ err: error }, 'Decrypting a received message failed')
    // Before Baileys refuses it: WhatsApp does not deliver it again then.
    if (stanza) await stored.noteFailure(stanza).finally(() => unstored.release(stanza.node))
    // Baileys answers these with a receipt in any case; it refuses all others, or asks for them again.
    if (stanza?.isPeer) acknowledge(stanza.node)
    throw error
  }

  return {
    attach(sock) {
      socket = sock
      if (me()) stored.resume()
      let passed: Promise<unknown> = Promise.resolve()
      intercept(sock.ws, 'CB:message', (node, passOn) => {
        const { from } = node.attrs
        // Baileys would refuse them with an error, and WhatsApp would then deliver them first at every login.
        if (isJidStatusBroadcast(from ?? '') || isJidNewsletter(from)) return acknowledge(node)
        const own = me()
        const stanza = own && readMessageStanza(node, own)
        for (const ciphertext of stanza?.ciphertexts ?? []) if (stanza) stanzas.set(ciphertext, stanza)
        const unavailable = stanza && unavailableReasonOf(node)
        if (stanza && (stanza.ciphertexts.length > 0 || unavailable)) unstored.add(node)
        // Baileys would queue it apart from later messages, which would then be stored before it.
        delete node.attrs.offline
        // One at a time: Baileys looks up the sender before it queues a message, so messages of new contacts would fall behind.
        // None after the end of the connection: the next connection brings them all again, in order.
        passed = passed.then(() => {
          if (!sock.ws.isOpen) return undefined
          return unavailable ? passUnavailable(stanza, unavailable, passOn) : passOn()
        })
      })
    },

    async storePlaintext(ciphertext, plaintext) {
      const stanza = stanzas.get(ciphertext)
      if (!stanza) return
      const message = await openMessage(stanza, plaintext, { secrets, logger })
      opened.set(ciphertext, message)
      await Promise.all([
        message.secret && secrets.keep(message.secret),
        stored.storeAll(stanza, message.received),
      ])
    },

    close: stored.close,

    wrap: (repository) => ({
      ...repository,
      decryptMessage: (given) =>
        repository.decryptMessage(given).then(
          (plaintext) => succeed(given.ciphertext, opened.get(given.ciphertext)?.plaintext ?? plaintext),
          (error) => recover(given.ciphertext, error),
        ),
      decryptGroupMessage: (given) =>
        repository.decryptGroupMessage(given).then(
          (plaintext) => succeed(given.msg, plaintext),
          (error) => recover(given.msg, error),
        ),
    }),
  }
}

/** Stores that a message has no content for this device, and hands it to Baileys. */
function makePassUnavailable(
  stored: StanzaStore,
  unstored: UnstoredStanzas,
  acknowledge: (node: BinaryNode) => void,
) {
  return async (stanza: MessageStanza, reason: UnavailableReason, passOn: () => Promise<unknown>) => {
    const isStored = await stored.storeUnavailable(stanza, reason).then(
      () => true,
      () => false,
    )
    unstored.release(stanza.node)
    // It is not acknowledged, so WhatsApp delivers it again.
    if (!isStored) return
    await passOn()
    // Baileys acknowledges the others.
    if (reason === 'view_once') acknowledge(stanza.node)
  }
}
