import { ask } from '../shared/ask.js'
import { onSubmit } from '../shared/form.js'
import { timeText } from '../shared/make-element.js'
import { element, say } from '../shared/view.js'
import { makeRow, moveTo, showRecords } from './records.js'
import { sentenceOf } from './sentences.js'
import { callSigned } from './session.js'

const at = 'keys-status'

/** Returns a function that reads the list. */
export function startKeys() {
  const list = showRecords('keys', {
    list: 'keys',
    records: 'keys',
    more: 'more-keys',
    empty: 'None. Programs need one.',
    toRow,
  })

  onSubmit('key-form', {
    sentenceOf,
    at,
    async work({ name }) {
      const created = await callSigned('create-key', { name })
      element('new-key-view').hidden = false
      element('new-key-text').textContent =
        `The key "${created.name}" is shown only now. Keep it where your passwords are.`
      element('new-key').textContent = created.api_key
      element('key-form').reset()
      say('', { at })
      element('new-key-text').focus()
      await list()
    },
  })

  function toRow({
    key_id: id,
    name,
    last_four: end,
    created_at,
    last_used_at: used,
    expires_at,
    revoked_at,
  }) {
    if (revoked_at) return
    const work = () => revoke({ id, name, end })
    return makeRow({
      name,
      facts: [
        `…${end}`,
        `created ${timeText(created_at)}`,
        used ? `used ${timeText(used)}` : 'never used',
        expires_at && `expires ${timeText(expires_at)}`,
      ],
      buttons: [{ text: 'Revoke', label: `Revoke the key ${name}, which ends with ${end}`, at, work }],
    })
  }

  async function revoke({ id, name, end }) {
    const question = `Revoke the key "${name}", which ends with ${end}? Programs that use it are refused from then on.`
    if (!(await ask(question, { yes: 'Revoke it' }))) return
    await callSigned('revoke-key', { key_id: id })
    if (element('new-key').textContent.endsWith(end)) {
      element('new-key').textContent = ''
      element('new-key-view').hidden = true
    }
    await list()
    moveTo('keys-title', `The key "${name}" is revoked.`, at)
  }

  return list
}
