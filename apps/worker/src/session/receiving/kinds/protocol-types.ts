import type { proto } from 'baileys'

type ProtocolType = keyof typeof proto.Message.ProtocolMessage.Type

/** What a protocol message is to a contact's chat: a change of a message, a message, or nothing, with the reason. */
type ProtocolRow = { is: 'change' } | { is: 'message'; kind: string } | { is: 'ignored'; because: string }

const change = { is: 'change' } as const
const ignored = (because: string) => ({ is: 'ignored', because }) as const
const ofAccount = ignored('between the phone and the companions of an account')
const ofAssistants = ignored('between a person and an assistant of WhatsApp')
const ofChat = ignored('a setting of the chat')

/** Every type of protocol message. They organise other messages, and are no message without content. */
export const protocolTypes: { [Type in ProtocolType]: ProtocolRow } = {
  REVOKE: change,
  MESSAGE_EDIT: change,
  STATUS_MENTION_MESSAGE: { is: 'message', kind: 'status_mention' },
  EPHEMERAL_SETTING: ofChat,
  EPHEMERAL_SYNC_RESPONSE: ofChat,
  LIMIT_SHARING: ofChat,
  GROUP_MEMBER_LABEL_CHANGE: ignored('a label of a group'),
  SHARE_PHONE_NUMBER: ignored('the number is learned from the addresses of messages'),
  HISTORY_SYNC_NOTIFICATION: ofAccount,
  APP_STATE_SYNC_KEY_SHARE: ofAccount,
  APP_STATE_SYNC_KEY_REQUEST: ofAccount,
  MSG_FANOUT_BACKFILL_REQUEST: ofAccount,
  INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC: ofAccount,
  APP_STATE_FATAL_EXCEPTION_NOTIFICATION: ofAccount,
  PEER_DATA_OPERATION_REQUEST_MESSAGE: ofAccount,
  PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE: ofAccount,
  MEDIA_NOTIFY_MESSAGE: ofAccount,
  LID_MIGRATION_MAPPING_SYNC: ofAccount,
  REQUEST_WELCOME_MESSAGE: ignored('asks a business for its greeting'),
  CLOUD_API_THREAD_CONTROL_NOTIFICATION: ignored('between programs of one business'),
  REMINDER_MESSAGE: ignored('a reminder that the person has set on the phone'),
  BOT_FEEDBACK_MESSAGE: ofAssistants,
  BOT_MEMU_ONBOARDING_MESSAGE: ofAssistants,
  STOP_GENERATION_MESSAGE: ofAssistants,
  AI_PSI_METADATA: ofAssistants,
  AI_QUERY_FANOUT: ofAssistants,
}
