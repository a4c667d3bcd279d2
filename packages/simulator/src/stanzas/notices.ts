import { callKey, deliver } from '../network/device.ts'
import { lidJid, pnJid, serverJid } from '../network/jid.ts'
import { newId, notify } from '../network/notify.ts'
import type { Phone } from '../network/phone.ts'
import { type Node, node, nowSeconds } from '../wire/node.ts'

/** Who it is about: a contact, or someone in a group. */
type About = { contact: string; group: string }
type Notice = { from: (about: About) => string; type: string; content: (about: About) => Node[] }

const fromServer = () => serverJid
const fromContact = ({ contact }: About) => pnJid(contact)
const fromGroup = ({ group }: About) => group

function mexUpdate(operation: string, data: object): Node {
  return node('update', { op_name: operation }, Buffer.from(JSON.stringify({ data })))
}

/** What WhatsApp tells companions at any time, and a program that sends messages need only acknowledge. */
const notices: Record<string, Notice> = {
  blocklist: {
    ...{ from: fromServer, type: 'account_sync' },
    content: ({ contact }) => [
      node('blocklist', {}, [node('item', { jid: lidJid(contact), action: 'block' })]),
    ],
  },
  disappearing_mode: {
    ...{ from: fromServer, type: 'account_sync' },
    content: () => [node('disappearing_mode', { duration: '86400', t: nowSeconds() })],
  },
  picture: {
    ...{ from: fromContact, type: 'picture' },
    content: ({ contact }) => [
      node('set', { jid: pnJid(contact), id: '1700000000', author: pnJid(contact) }),
    ],
  },
  about: { from: fromContact, type: 'status', content: () => [node('set', {}, Buffer.from('At work'))] },
  business: {
    ...{ from: fromContact, type: 'business' },
    content: ({ contact }) => [node('profile', { jid: pnJid(contact) })],
  },
  group_subject: {
    ...{ from: fromGroup, type: 'w:gp2' },
    content: ({ contact }) => [
      node('subject', { subject: 'Garden', s_t: nowSeconds(), s_o: lidJid(contact) }),
    ],
  },
  group_add: {
    ...{ from: fromGroup, type: 'w:gp2' },
    content: ({ contact }) => [node('add', {}, [node('participant', { jid: lidJid(contact) })])],
  },
  newsletter: {
    ...{ from: fromServer, type: 'mex' },
    content: () => [
      mexUpdate('NotificationNewsletterMuteChange', { xwa2_notify_newsletter_on_mute_change: {} }),
    ],
  },
  username: {
    ...{ from: fromServer, type: 'mex' },
    content: ({ contact }) => [
      mexUpdate('UsernameSetNotification', { xwa2_notify_username_on_change: { lid: lidJid(contact) } }),
    ],
  },
  media_retry: {
    ...{ from: fromServer, type: 'mediaretry' },
    content: ({ contact }) => [
      node('rmr', { jid: pnJid(contact), from_me: 'false' }),
      node('error', { code: '2' }),
    ],
  },
  /** A kind that no program knows yet. */
  unknown: { from: fromServer, type: 'wagate_unknown', content: () => [node('anything', { new: 'true' })] },
}

/** An incoming call is not a notification, but acknowledged like one. */
export const noticeKinds = [...Object.keys(notices), 'call']

/** Tells the companions of a phone. Until they acknowledge, it counts as pending. */
export function sendNotice(phone: Phone, kind: string, contact: string): void {
  const about = { contact, group: `${contact}-1600000000@g.us` }
  const notice = notices[kind]
  for (const device of phone.devices.values()) {
    if (notice) {
      notify(device, { from: notice.from(about), type: notice.type }, notice.content(about))
      continue
    }
    const id = newId()
    const offer = node('offer', { 'call-id': id, 'call-creator': pnJid(contact) }, [
      node('audio', { rate: '16000' }),
    ])
    deliver(device, callKey(id), node('call', { from: pnJid(contact), id, t: nowSeconds() }, [offer]))
  }
}
