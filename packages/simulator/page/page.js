import { api } from './api.js'
import { conversationColumn, threadsOf } from './conversation.js'
import { byId } from './dom.js'
import { chatsColumn, choosePhones, phonesColumn } from './phones.js'
import { scanDialog } from './scan.js'

const refreshMs = 1500

/** The fragment of the address names the phone and the other number: #phone or #phone/other. */
function address() {
  const [number, other] = location.hash.slice(1).split('/')
  return { number: number || undefined, other: other || undefined }
}

function go(...parts) {
  location.hash = parts.join('/')
}

const drawPhones = phonesColumn({ open: (number) => go(number) })
const drawChats = chatsColumn({
  open: (other) => go(address().number, other),
  back: () => go(),
  unlink: (number, jid) => act(api.unlink(number, jid)),
  refuseLogins: (code, seconds) => act(api.refuseLogins(place().number, code, seconds)),
  allowLogins: (id) => act(api.endFault(id)),
})
const drawConversation = conversationColumn({
  back: () => go(address().number),
  reply: async (number, other, text) => {
    await api.send(number, other, text)
    await refresh()
  },
  sendFile: async (number, other, as) => {
    await api.sendFile(number, other, as)
    await refresh()
  },
  markRead: () => act(markRead()),
})
scanDialog({ linked: (number) => go(number) })

let entries = []

async function refresh() {
  const { number, other } = address()
  byId('columns').dataset.depth = other ? 2 : number ? 1 : 0
  try {
    const [phones, faults, timeline] = await Promise.all([
      api.phones(),
      api.faults(),
      number ? api.timeline(number) : [],
    ])
    entries = timeline
    draw(phones, faults, number, other)
  } catch {
    byId('summary').textContent = 'The simulator does not answer. Is it running?'
  }
}

function draw(phones, faults, number, other) {
  const linked = phones.filter((phone) => phone.linked)
  const connected = linked.filter((phone) => phone.connected)
  byId('summary').textContent =
    `${phones.length} phones, ${linked.length} linked, ${connected.length} connected`
  drawPhones({ phones: choosePhones(phones, byId('filter').value), chosen: number })
  const threads = threadsOf(entries)
  const phone = phones.find((one) => one.number === number)
  drawChats({
    phone,
    chosen: other,
    refusals: faults
      .filter(({ kind, sender }) => kind === 'login_failure' && (sender ?? number) === number)
      .map(({ id, code }) => ({ id, code })),
    threads: threads.map((thread) => ({ with: thread.with, last: thread.last, unread: thread.unread })),
  })
  drawConversation({ number, other, entries: threads.find((thread) => thread.with === other)?.entries ?? [] })
}

async function markRead() {
  const { number, other } = address()
  const unread = entries.filter((entry) => entry.with === other && entry.status === 'received')
  for (const entry of unread) await api.read(number, entry.wa_message_id)
}

async function act(action) {
  try {
    await action
  } catch (error) {
    byId('summary').textContent = error.message
  }
  await refresh()
}

window.addEventListener('hashchange', refresh)
byId('filter').addEventListener('input', refresh)

async function follow() {
  if (!document.hidden) await refresh()
  setTimeout(follow, refreshMs)
}
void follow()
