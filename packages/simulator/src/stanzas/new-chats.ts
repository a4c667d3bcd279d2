import { serverJid } from '../network/jid.ts'
import { activeNewChatCap, activeTimeLock } from '../network/new-chats.ts'
import { notify } from '../network/notify.ts'
import type { Phone } from '../network/phone.ts'
import { type Node, type NodeContent, node } from '../wire/node.ts'
import type { IqCall } from './iq-call.ts'

const newChatCapQuery = '24503548349331633'

/** Answers whether the account is under a time-lock, and how many new chats it has left. */
export function answerNewChatQuery({ network, device }: IqCall, query: Node | undefined): NodeContent {
  network.counters.new_chat_queries += 1
  const failed = network.faults.strike('new_chat_query_error', device.phone.number)
  if (failed) {
    const error = { message: 'failed', extensions: { error_code: Number(failed.code) } }
    return [node('result', {}, Buffer.from(JSON.stringify({ errors: [error] })))]
  }
  const data =
    query?.attrs.query_id === newChatCapQuery
      ? { xwa2_message_capping_info: newChatCapOf(device.phone) }
      : { xwa2_fetch_account_reachout_timelock: timeLockOf(device.phone) }
  return [node('result', {}, Buffer.from(JSON.stringify({ data })))]
}

export function announceTimeLock(phone: Phone): void {
  announce(phone, 'NotificationUserReachoutTimelockUpdate', {
    xwa2_notify_account_reachout_timelock: timeLockOf(phone),
  })
}

export function announceNewChatCap(phone: Phone): void {
  announce(phone, 'MessageCappingInfoNotification', {
    xwa2_notify_new_chat_messages_capping_info_update: newChatCapOf(phone),
  })
}

function announce(phone: Phone, operation: string, data: object): void {
  const update = node('update', { op_name: operation }, Buffer.from(JSON.stringify({ data })))
  for (const device of phone.devices.values()) notify(device, { from: serverJid, type: 'mex' }, [update])
}

function timeLockOf(phone: Phone): object {
  const lock = activeTimeLock(phone)
  if (!lock) return { is_active: false }
  return {
    is_active: true,
    time_enforcement_ends: Math.ceil(lock.untilMs / 1000).toString(),
    enforcement_type: lock.type,
  }
}

function newChatCapOf(phone: Phone): object {
  const cap = activeNewChatCap(phone)
  if (!cap) return { total_quota: '-1', used_quota: '0' }
  return {
    total_quota: cap.total.toString(),
    used_quota: cap.used.toString(),
    cycle_start_timestamp: Math.floor(cap.startMs / 1000).toString(),
    cycle_end_timestamp: Math.ceil(cap.endMs / 1000).toString(),
    capping_status: cap.used >= cap.total ? 'CAPPED' : 'NONE',
  }
}
