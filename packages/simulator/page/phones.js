import { byId, drawer, el } from './dom.js'
import { refusalForm, refusalRow } from './refusals.js'

const rowsMax = 300

/** Linked phones first, then those with the most messages. */
export function choosePhones(phones, filter) {
  const digits = filter.replace(/\D/g, '')
  return phones
    .filter((phone) => phone.number.includes(digits))
    .sort((a, b) => b.linked - a.linked || b.received - a.received || a.number.localeCompare(b.number))
    .slice(0, rowsMax)
}

export function phonesColumn({ open }) {
  return drawer(({ phones, chosen }) => {
    byId('phone-list').replaceChildren(
      ...(phones.length === 0
        ? [el('li', { class: 'empty' }, 'No phones yet. Scanning a QR code creates one.')]
        : []),
      ...phones.map((phone) => el('li', {}, phoneRow(phone, chosen, open))),
    )
  })
}

function phoneRow(phone, chosen, open) {
  return el(
    'button',
    {
      class: 'row',
      type: 'button',
      'aria-current': phone.number === chosen ? 'true' : undefined,
      onclick: () => open(phone.number),
    },
    dot(phone.connected ? 'connected' : phone.linked ? 'linked' : ''),
    el(
      'span',
      { class: 'grow' },
      el('span', { class: 'name' }, `+${phone.number}`),
      el('span', { class: 'hint' }, state(phone)),
    ),
    phone.received > 0 && el('span', { class: 'hint', title: 'received messages' }, String(phone.received)),
  )
}

function state(phone) {
  if (!phone.linked) return 'no linked device'
  const count =
    phone.companions.length === 1 ? '1 linked device' : `${phone.companions.length} linked devices`
  return `${count}, ${phone.connected ? 'connected' : 'offline'}`
}

function dot(kind) {
  return el('span', { class: `dot ${kind}`, 'aria-hidden': 'true' })
}

/** The chosen phone: its linked devices and its chats. */
export function chatsColumn({ open, back, unlink, refuseLogins, allowLogins }) {
  const form = writeTo(open)
  const refusing = refusalForm(refuseLogins)
  return drawer(({ phone, threads, chosen, refusals }) => {
    const column = byId('chats')
    const isWriting = form.contains(document.activeElement)
    if (!phone) {
      column.replaceChildren(el('p', { class: 'empty' }, 'Choose a phone to see its chats.'))
      return
    }
    column.replaceChildren(
      el(
        'div',
        { class: 'head' },
        el('button', { class: 'back', type: 'button', 'aria-label': 'Back', onclick: back }, '‹'),
        el(
          'div',
          { class: 'grow' },
          el('h2', {}, `+${phone.number}`),
          el('p', { class: 'hint' }, state(phone)),
        ),
      ),
      ...(phone.linked
        ? [
            el(
              'ul',
              { class: 'companions' },
              ...phone.companions.map((one) => companion(one, phone, unlink)),
              ...refusals.map((one) => refusalRow(one, allowLogins)),
            ),
            refusing,
          ]
        : []),
      form,
      el(
        'ul',
        { class: 'list' },
        ...(threads.length === 0 ? [el('li', { class: 'empty' }, 'No messages yet.')] : []),
        ...threads.map((thread) => el('li', {}, threadRow(thread, chosen, open))),
      ),
    )
    if (isWriting) form.firstChild.focus()
  })
}

/** A chat begins with the number of the other side. */
function writeTo(open) {
  const input = el('input', {
    'aria-label': 'Write to a number',
    placeholder: 'Write to a number',
    inputmode: 'tel',
    autocomplete: 'off',
  })
  const submit = (event) => {
    event.preventDefault()
    const number = input.value.replace(/\D/g, '')
    if (!number) return
    input.value = ''
    open(number)
  }
  return el('form', { class: 'filter', onsubmit: submit }, input)
}

function companion(one, phone, unlink) {
  return el(
    'li',
    {},
    dot(one.connected ? 'connected' : 'linked'),
    el('span', { class: 'grow' }, `${one.platform} · device ${one.jid.split(/[:@]/)[1]} · ${loginsOf(one)}`),
    el('button', { class: 'quiet', type: 'button', onclick: () => unlink(phone.number, one.jid) }, 'Unlink'),
  )
}

function loginsOf({ logins, refused_logins }) {
  return refused_logins > 0 ? `${logins} logins, ${refused_logins} refused` : `${logins} logins`
}

function threadRow(thread, chosen, open) {
  return el(
    'button',
    {
      class: 'row',
      type: 'button',
      'aria-current': thread.with === chosen ? 'true' : undefined,
      onclick: () => open(thread.with),
    },
    el(
      'span',
      { class: 'grow' },
      el('span', { class: 'name' }, `+${thread.with}`),
      el('span', { class: 'hint last' }, thread.last),
    ),
    thread.unread > 0 && el('span', { class: 'badge', title: 'unread' }, String(thread.unread)),
  )
}
