import { ask } from '../shared/ask.js'
import { onSubmit } from '../shared/form.js'
import { makeGateway } from '../shared/gateway.js'
import { keepLinkSession } from '../shared/link-session.js'
import { timeText } from '../shared/make-element.js'
import { makeRow, moveTo, showRecords } from './records.js'
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
  keepLinkSession(await makeGateway(new URL(url).hash.slice(1))('open-link'))
  location.assign('/link#account')
  await new Promise(() => undefined)
}

/** Returns a function that reads the list. `onRemoved` is awaited when a sender is gone. */
export function startSenders({ onRemoved }) {
  onSubmit('sender-form', { sentenceOf, at, work: ({ sender }) => link(sender) })
  const list = showRecords('devices', {
    list: 'senders',
    records: 'devices',
    more: 'more-senders',
    empty: 'None yet.',
    toRow,
  })

  function toRow({
    sender,
    name,
    status,
    status_reason: reason,
    last_seen_at: seen,
    restricted_until: until,
  }) {
    return makeRow({
      name: `+${sender}`,
      badge: statuses[status] ?? { text: status },
      facts: [
        name !== sender && name,
        reason?.replaceAll('_', ' '),
        seen && `last login ${timeText(seen)}`,
        until && `restricted until ${timeText(until)}`,
      ],
      buttons: [
        status !== 'connected' && { text: 'Link', label: `Link +${sender}`, at, work: () => link(sender) },
        { text: 'Remove', label: `Remove +${sender}`, at, work: () => remove(sender) },
      ],
    })
  }

  async function remove(sender) {
    const question = `Remove +${sender}? It is logged out of WhatsApp and sends no more messages. Its history stays.`
    if (!(await ask(question, { yes: 'Remove it' }))) return
    await callSigned('delete-device', { sender })
    await Promise.all([list(), onRemoved()])
    moveTo('senders-title', `+${sender} is removed.`, at)
  }

  return list
}
