import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import type { SignalKeyStore, WASocket } from 'baileys'

type Work<Result> = () => Promise<Result>

/**
 * Replaces Baileys' transactions, which collect writes in an async context until the stanza has left. On Node < 24, that
 * slows down every `await` in the process. Here writes are stored at once, and transactions still run one at a time.
 *
 * A nested transaction would deadlock. Baileys has these in its Signal repository, which needs a separate key store
 * (signal-section.ts), and in `appPatch`, for changes of chats and contacts, which the worker never calls.
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
