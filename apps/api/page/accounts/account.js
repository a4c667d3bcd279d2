import { startCopying } from '../shared/copy.js'
import { onClick, startRevealing } from '../shared/form.js'
import { download } from '../shared/gateway.js'
import { installation } from '../shared/installation.js'
import { timeText } from '../shared/make-element.js'
import { element, say, showOnly } from '../shared/view.js'
import { startCredentials, startDeletion } from './credentials.js'
import { startKeys } from './keys.js'
import { startSenders } from './senders.js'
import { sentenceOf } from './sentences.js'
import { callSigned, leaveFor, signed } from './session.js'
import { startSessions } from './sessions.js'

const show = (...ids) => showOnly(['account-view', 'deleted-view', 'sign-out', 'sign-in-again'], ids)

const listSenders = startSenders({ onRemoved: readAccount })
const listKeys = startKeys()
const listSessions = startSessions()
let accountId

async function readAccount() {
  const account = await callSigned('user-info')
  accountId = account.id
  element('account-email').textContent = account.email
  element('account-role').textContent = account.level === 'ADMIN' ? 'Administrator' : 'User'
  element('account-devices').textContent = `${account.devices_used} of ${account.devices_allowed} allowed`
  element('account-expiry').textContent = account.expiry ? timeText(account.expiry) : 'never'
  for (const field of document.querySelectorAll('.username')) field.value = account.email
}

async function begin() {
  try {
    await Promise.all([readAccount(), listSenders(), listKeys(), listSessions(), describeDeletion()])
    say('You are signed in.')
    show('account-view', 'sign-out')
  } catch (error) {
    say(sentenceOf(error), { isProblem: true })
    show('sign-in-again')
  }
}

async function describeDeletion() {
  const { account_deletion_days: days } = await installation
  element('deletion-when').textContent = `${laterText(days)}, everything of the account is deleted.`
}

function laterText(days) {
  if (days === undefined) return 'Some days later'
  return days === 0 ? 'At once' : days === 1 ? 'One day later' : `${days} days later`
}

function showDeleted({ due_at: due, proof }) {
  show('deleted-view')
  say('You are signed out.')
  element('deletion-due').textContent = timeText(due)
  element('proof').textContent = proof
  element('proof-command').textContent =
    `curl -s ${location.origin}/deletion-proof -H 'content-type: application/json' -d '{"proof":"${proof}"}'`
  element('deleted-title').focus()
}

/** Of the last line of an export, without which it is not complete. */
const endCharsMax = 2000

async function exportAccount() {
  say('The file is being written…', { at: 'export-status' })
  const file = await signed(download('export-account'))
  if (!(await file.slice(-endCharsMax).text()).includes('{"type":"end"')) throw { code: 'export_incomplete' }
  const url = URL.createObjectURL(file)
  const link = Object.assign(document.createElement('a'), {
    href: url,
    download: `wagate-account-${accountId}.ndjson`,
  })
  link.click()
  URL.revokeObjectURL(url)
  say('The file is complete.', { at: 'export-status' })
}

async function signOut() {
  await callSigned('sign-out')
  await leaveFor('/sign-in')
}

onClick(element('sign-out'), { sentenceOf, work: signOut })
onClick(element('export'), { sentenceOf, at: 'export-status', work: exportAccount })
startCredentials({ listSessions })
startDeletion(showDeleted)
startCopying()
startRevealing()
// Another browser may have ended this session meanwhile.
addEventListener('focus', () => {
  if (!element('account-view').hidden) void readAccount().catch(() => undefined)
})
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})
void begin()
