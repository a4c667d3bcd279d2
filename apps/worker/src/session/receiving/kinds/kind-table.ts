import { proto } from 'baileys'
import { readButtonsMessage, readInteractive, readList } from './business-kinds.ts'
import {
  readChoice,
  readContacts,
  readInteractiveResponse,
  readLinkedText,
  readLocation,
  readPoll,
  readPollResult,
} from './common-kinds.ts'
import * as other from './other-kinds.ts'
import type { DescribedFile, KindReader, MessageFile, ReadKind } from './read-kind.ts'

import { readStructured, readTemplate } from './template-kinds.ts'

export type Field = keyof proto.IMessage
type Given<Name extends Field> = NonNullable<proto.IMessage[Name]>

/** What one field of the protocol's `Message` is to the gateway. */
export type KindRow<Name extends Field> =
  /** A person, or the program of a business, writes it. */
  | { is: 'message'; read: KindReader<Given<Name>> }
  /** Contains another message. */
  | { is: 'wrapper'; open: (given: Given<Name>) => proto.IMessage | null | undefined; mark?: WrapperMark }
  /** Changes another message: `readChange` reads it. */
  | { is: 'change' }
  /** Not kept. `because` is in docs/messages.md as well. */
  | { is: 'ignored'; because: string }

export type WrapperMark = 'is_view_once'

const message = <Value>(read: KindReader<Value>) => ({ is: 'message', read }) as const
const file = (
  kind: MessageFile['kind'],
  readMore: (given: DescribedFile & { caption?: string | null }) => Partial<ReadKind> = withCaption,
) =>
  message((given: DescribedFile & { caption?: string | null }) => ({
    type: kind,
    ...readMore(given),
    file: { kind, described: given },
  }))
function withCaption({ caption }: { caption?: string | null }) {
  return { text: caption }
}
type Wrapper = { message?: proto.IMessage | null }
const open = (given: Wrapper) => given.message
const wrapper = { is: 'wrapper', open } as const
const viewOnce = { is: 'wrapper', open, mark: 'is_view_once' } as const
const change = { is: 'change' } as const
const ignored = (because: string) => ({ is: 'ignored', because }) as const
const note = (kind: string) =>
  message(({ text, key }: { text?: string | null; key?: proto.IMessageKey | null }) =>
    other.readNote(kind, text, key),
  )
const poll = message(readPoll)
const pollResult = message(readPollResult)

const { CallOutcome } = proto.Message.CallLogMessage
const { CallType } = proto.Message.ScheduledCallCreationMessage

const keys = 'a key for later messages'
const sealed = 'encrypted with the secret of a message that the gateway does not send'
const ofGroups = 'history that a group shares with a new member'
const ofStatuses = 'about a status, which the gateway does not receive'

/**
 * Every field of `proto.Message`: the compiler asks for those that a new Baileys brings. What a person can read is a
 * message, and its text is never dropped. What organises other messages is no message.
 */
export const kindTable: { [Name in Field]-?: KindRow<Name> } = {
  conversation: message((text) => ({ type: 'text', text })),
  extendedTextMessage: message(readLinkedText),
  imageMessage: file('image'),
  videoMessage: file('video'),
  ptvMessage: file('video'),
  audioMessage: file('audio'),
  documentMessage: message((given) => ({
    type: 'document',
    text: given.caption,
    file: { kind: 'document', described: { ...given, fileName: given.fileName || given.title || null } },
  })),
  stickerMessage: file('image', () => ({ type: 'sticker' })),
  locationMessage: message((given, cleaner) => place(given.comment, readLocation(given, cleaner))),
  liveLocationMessage: message((given, cleaner) => place(given.caption, readLocation(given, cleaner, true))),
  contactMessage: message((card, cleaner) => readContacts(card.displayName, [card], cleaner)),
  contactsArrayMessage: message((cards, cleaner) => readContacts(cards.displayName, cards.contacts, cleaner)),
  pollCreationMessage: poll,
  pollCreationMessageV2: poll,
  pollCreationMessageV3: poll,
  pollCreationMessageV5: poll,
  pollResultSnapshotMessage: pollResult,
  pollResultSnapshotMessageV3: pollResult,

  interactiveMessage: message(readInteractive),
  templateMessage: message(readTemplate),
  highlyStructuredMessage: message(readStructured),
  buttonsMessage: message(readButtonsMessage),
  listMessage: message(readList),
  buttonsResponseMessage: message((given, cleaner) =>
    readChoice({ id: given.selectedButtonId, title: given.selectedDisplayText }, cleaner),
  ),
  listResponseMessage: message((given, cleaner) =>
    readChoice(
      { id: given.singleSelectReply?.selectedRowId, title: given.title || given.description },
      cleaner,
    ),
  ),
  templateButtonReplyMessage: message((given, cleaner) =>
    readChoice({ id: given.selectedId, title: given.selectedDisplayText }, cleaner),
  ),
  interactiveResponseMessage: message(readInteractiveResponse),

  groupInviteMessage: message(other.readGroupInvite),
  newsletterAdminInviteMessage: message((given, cleaner) => other.readChannelInvite(given, cleaner, true)),
  newsletterFollowerInviteMessageV2: message((given, cleaner) =>
    other.readChannelInvite(given, cleaner, false),
  ),
  orderMessage: message(other.readOrder),
  productMessage: message(other.readProduct),
  invoiceMessage: message(other.readInvoice),
  requestPaymentMessage: message((given, cleaner) =>
    other.readPayment('requested', {
      noteText: textOf(given.noteMessage),
      ...other.requestedAmount(given, cleaner),
    }),
  ),
  sendPaymentMessage: message((given) =>
    other.readPayment('sent', { noteText: textOf(given.noteMessage), key: given.requestMessageKey }),
  ),
  declinePaymentRequestMessage: message(({ key }) => other.readPayment('declined', { key })),
  cancelPaymentRequestMessage: message(({ key }) => other.readPayment('canceled', { key })),
  paymentInviteMessage: message(() => other.readPayment('invited', {})),
  eventMessage: message(other.readEvent),
  callLogMesssage: message(({ callOutcome, durationSecs, isVideo }) =>
    other.readCall(
      {
        outcome: other.nameOf(CallOutcome, callOutcome),
        seconds: Number(durationSecs ?? 0),
        is_video: isVideo === true,
      },
      null,
    ),
  ),
  scheduledCallCreationMessage: message(({ title, callType, scheduledTimestampMs }) =>
    other.readCall(
      {
        outcome: 'planned',
        is_video: callType === CallType.VIDEO,
        starts_at: other.timeOfMs(scheduledTimestampMs),
      },
      title,
    ),
  ),
  scheduledCallEditMessage: message(({ key }) =>
    other.readCall({ outcome: 'canceled', is_video: false }, null, key),
  ),
  bcallMessage: message(({ caption }) => other.readNote('broadcast_call', caption)),
  stickerPackMessage: message(other.readStickerPack),
  richResponseMessage: message(other.readRichResponse),
  requestPhoneNumberMessage: message(() => other.readNote('phone_number_request', null)),
  chat: message(({ displayName }) => other.readNote('chat', displayName)),
  questionResponseMessage: note('question_response'),
  statusQuestionAnswerMessage: note('status_answer'),
  statusQuotedMessage: message(({ text, originalStatusId }) =>
    other.readNote('status_quote', text, originalStatusId),
  ),
  statusStickerInteractionMessage: message(({ key }) => other.readNote('status_sticker', null, key)),
  placeholderMessage: message(() => ({ ...other.readNote('placeholder', null), unavailable: 'hidden' })),

  deviceSentMessage: wrapper,
  ephemeralMessage: wrapper,
  viewOnceMessage: viewOnce,
  viewOnceMessageV2: viewOnce,
  viewOnceMessageV2Extension: viewOnce,
  documentWithCaptionMessage: wrapper,
  editedMessage: wrapper,
  commentMessage: wrapper,
  groupMentionedMessage: wrapper,
  botInvokeMessage: wrapper,
  botTaskMessage: wrapper,
  botForwardedMessage: wrapper,
  lottieStickerMessage: wrapper,
  pollCreationMessageV4: wrapper,
  pollCreationOptionImageMessage: wrapper,
  eventCoverImage: wrapper,
  associatedChildMessage: wrapper,
  statusMentionMessage: wrapper,
  groupStatusMentionMessage: wrapper,
  groupStatusMessage: wrapper,
  groupStatusMessageV2: wrapper,
  statusAddYours: wrapper,
  limitSharingMessage: wrapper,
  questionMessage: wrapper,
  questionReplyMessage: wrapper,

  reactionMessage: change,
  pollUpdateMessage: change,
  secretEncryptedMessage: change,
  protocolMessage: change,

  messageContextInfo: ignored('about the message that it is part of'),
  senderKeyDistributionMessage: ignored(keys),
  fastRatchetKeySenderKeyDistributionMessage: ignored(keys),
  albumMessage: ignored('its pictures and videos are messages of their own'),
  pinInChatMessage: ignored('pins a message that is stored'),
  keepInChatMessage: ignored('keeps a disappearing message, which the gateway keeps in any case'),
  call: ignored('a call, which the gateway does not take'),
  encReactionMessage: ignored(sealed),
  encCommentMessage: ignored(sealed),
  encEventResponseMessage: ignored(sealed),
  messageHistoryBundle: ignored(ofGroups),
  messageHistoryNotice: ignored(ofGroups),
  statusNotificationMessage: ignored(ofStatuses),
  stickerSyncRmrMessage: ignored('the stickers of the account, for its other devices'),
}

function place(text: string | null | undefined, content: ReadKind['content']): ReadKind {
  return { type: 'location', text, ...(content && { content }) }
}

/** A note beside an amount is a text. */
function textOf(given: proto.IMessage | null | undefined): string | null {
  return given?.conversation ?? given?.extendedTextMessage?.text ?? null
}
