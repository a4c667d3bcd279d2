import { onSubmit } from '../shared/form.js'
import { makeGateway } from '../shared/gateway.js'
import { keepLinkSession } from '../shared/link-session.js'
import { timeText } from '../shared/make-element.js'
import { makeRow, showRecords } from './records.js'
import { sentenceOf } from './sentences.js'
import { callSigned } from './session.js'

const at = 'senders-status'

const statuses = {
  connected: { text: 'Linked', kind: 'good' },
  scanning: { text: 'Waits for a scan' },
  passkey_required: { text: 'Waits for a passkey' },
  passkey_confirmation_required: { text: 'Waits for a comparison' },
  disconnected: { text: 'Not linked', kind: 'bad' },
}

/** With a link of this person's own, which is opened at once: the page needs no key, and can link nothing else. */
async function link(sender) {
  const { url } = await callSigned('create-link', { sender })
  const { session } = await makeGateway(new URL(url).hash.slice(1))('open-link')
  keepLinkSession(session)
  location.assign('/link#account')
  await new Promise(() => undefined)
}

function toRow({ sender, name, status, status_reason: reason, last_seen_at: seen, restricted_until: until }) {
  return makeRow({
    name: `+${sender}`,
    badge: statuses[status] ?? { text: status },
    facts: [
      name !== sender && name,
      reason?.replaceAll('_', ' '),
      seen && `last login ${timeText(seen)}`,
      until && `restricted until ${timeText(until)}`,
    ],
    button: status !== 'connected' && {
      text: 'Link',
      label: `Link +${sender}`,
      at,
      work: () => link(sender),
    },
  })
}

/** Returns a function that reads the list. */
export function startSenders() {
  onSubmit('sender-form', { sentenceOf, at, work: ({ sender }) => link(sender) })
  return showRecords('devices', {
    list: 'senders',
    records: 'devices',
    more: 'more-senders',
    empty: 'None yet.',
    toRow,
  })
}
