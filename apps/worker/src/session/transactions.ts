import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import type { SignalKeyStore, WASocket } from 'baileys'

type Work<Result> = () => Promise<Result>

/**
 * Replaces Baileys' transactions, which collect writes in an async context: until the stanza has left, and at the price of
 * every `await` of the process on Node < 24. Here a write is stored at once, and transactions still run one after the other.
 *
 * A transaction inside of another one would wait for itself for ever. Baileys has these in its Signal repository, which
 * must have a key store of its own (signal-section.ts), and in `appPatch`, for changes of chats and contacts, which no part
 * of the worker calls.
 */
export function replaceTransactions(
  sock: WASocket,
  keys: SignalKeyStore,
  begin: <Result>(work: Work<Result>) => Work<Result> = (work) => work,
): void {
  const oneAtATime = makeOneAtATime()
  Object.assign(sock.authState.keys, {
    get: keys.get,
    set: keys.set,
    isInTransaction: () => false,
    transaction: <Result>(work: Work<Result>) => oneAtATime(begin(work)),
  })
}
