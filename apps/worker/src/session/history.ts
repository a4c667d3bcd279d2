import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { type AuthenticationCreds, proto } from 'baileys'

/** Beyond this, unpacked, a history is not looked at: it is decoded on the event loop. */
const historyBytesMax = 8 * 2 ** 20
/** For each link. A phone sends one or two of each kind. */
const historiesMax = 16

const { HistorySyncType } = proto.Message

/**
 * The kinds that tell which phone number belongs to which LID, and the tokens of contacts. Without RECENT Baileys
 * does not hold back its events for 20 s after the first login either.
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

/** Whether a history that came inside its message is of a size that may be decoded. Baileys would unpack it without a limit. */
export async function isModestHistory({
  initialHistBootstrapInlinePayload: payload,
}: proto.Message.IHistorySyncNotification): Promise<boolean> {
  if (!payload || payload.length === 0) return true
  return unpack(payload, { maxOutputLength: historyBytesMax }).then(
    () => true,
    () => false,
  )
}
