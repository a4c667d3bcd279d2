import { api } from './api.js'
import { byId, drawer, el, shortTime } from './dom.js'

const refreshMs = 1500
const url = /(https?:\/\/\S+)/

/** With its links, which open in a new tab. */
function textOf(text) {
  const parts = text.trim().split(url)
  return parts.map((part) => (url.test(part) ? el('a', { href: part, target: '_blank' }, part) : part))
}

function card({ to, from, subject, text, received_at }) {
  return el(
    'article',
    { class: 'mail' },
    el('h2', {}, subject),
    el('p', { class: 'hint' }, `${shortTime(received_at)}, from ${from} to ${to.join(', ')}`),
    el('pre', {}, ...textOf(text)),
  )
}

const draw = drawer((mails) => {
  byId('summary').textContent =
    mails.length === 0 ? 'No mail yet. They are not delivered to anybody.' : `${mails.length}, none delivered`
  byId('mails').replaceChildren(...mails.toReversed().map(card))
})

async function refresh() {
  try {
    draw(await api.mails())
  } catch {
    byId('summary').textContent = 'The simulator does not answer. Is it running?'
  }
}

void refresh()
setInterval(() => void refresh(), refreshMs)
