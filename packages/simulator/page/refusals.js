import { el } from './dom.js'

const failures = [
  ['402', 'temporarily banned'],
  ['403', 'locked'],
  ['405', 'client outdated'],
  ['406', 'banned'],
  ['429', 'too many logins'],
  ['503', 'unavailable'],
]

/** Lets WhatsApp refuse the logins of a phone's linked devices. The form keeps what is chosen while the rest is drawn. */
export function refusalForm(refuse) {
  const code = el(
    'select',
    {},
    ...failures.map(([value, meaning]) => el('option', { value }, `${value} ${meaning}`)),
  )
  const seconds = el('input', {
    placeholder: 'no end',
    inputmode: 'numeric',
    autocomplete: 'off',
  })
  const submit = (event) => {
    event.preventDefault()
    const lasting = Number(seconds.value.replace(/\D/g, ''))
    refuse(code.value, lasting > 0 ? lasting : undefined)
  }
  return el(
    'form',
    { class: 'refusal', onsubmit: submit },
    el(
      'p',
      { class: 'hint' },
      'Let WhatsApp refuse the logins of this phone’s linked devices, to see what the gateway does:',
    ),
    el('label', {}, 'Error', code),
    el('label', {}, 'Seconds', seconds),
    el('button', { class: 'quiet', type: 'submit' }, 'Refuse logins'),
  )
}

/** The refusals in force, each with a button that ends it. */
export function refusalRow(refusal, allow) {
  return el(
    'li',
    {},
    el('span', { class: 'grow' }, `Logins are refused with ${refusal.code}`),
    el('button', { class: 'quiet', type: 'button', onclick: () => allow(refusal.id) }, 'End'),
  )
}
