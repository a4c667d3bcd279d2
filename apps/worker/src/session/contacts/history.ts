import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { type AuthenticationCreds, proto } from 'baileys'

/** Larger histories (unpacked) are ignored, because they are decoded on the event loop. */
const historyBytesMax = 8 * 2 ** 20
/** Per link. A phone sends one or two of each kind. */
const historiesMax = 16

const { HistorySyncType } = proto.Message

/**
 * The kinds that carry the mapping of phone numbers to LIDs, and the tokens of contacts. RECENT is left out: Baileys would
 * hold back its events for 20 s after the first login.
 */
const wantedKinds: unknown[] = [
  HistorySyncType.INITIAL_BOOTSTRAP,
  HistorySyncType.PUSH_NAME,
  HistorySyncType.NON_BLOCKING_DATA,
]

export function isWantedHistory(
  { syncType }: proto.Message.IHistorySyncNotification,
  { processedHistoryMessages }: AuthenticationCreds,
): boolean {
  return wantedKinds.includes(syncType) && (processedHistoryMessages?.length ?? 0) < historiesMax
}

const unpack = promisify(inflate)

/** Whether a history that is part of its message is small enough to decode. Baileys would unpack it without a limit. */
export async function isModestHistory({
  initialHistBootstrapInlinePayload: payload,
}: proto.Message.IHistorySyncNotification): Promise<boolean> {
  if (!payload || payload.length === 0) return true
  return unpack(payload, { maxOutputLength: historyBytesMax }).then(
    () => true,
    () => false,
  )
}
