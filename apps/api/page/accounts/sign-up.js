import { startCopying } from '../shared/copy.js'
import { onClick, onSubmit, startRevealing } from '../shared/form.js'
import { call } from '../shared/gateway.js'
import { installation } from '../shared/installation.js'
import { element, say, showOnly } from '../shared/view.js'
import { showFirstCommands } from './first-commands.js'
import { isClosed } from './installation.js'
import { startMailForm, takeMailedSecret } from './mailed-link.js'
import { isWrong, sentenceOf } from './sentences.js'
import { openAccount } from './session.js'

const views = [
  'email-form',
  'sign-in-link',
  'mailbox-view',
  'continue',
  'password-form',
  'key-view',
  'changed-view',
]
const titles = {
  continue: 'Confirm your email address',
  'key-view': 'Your account is ready',
  'changed-view': 'Your email address',
}

function show(...ids) {
  showOnly(views, ids)
  element('title').textContent = titles[ids[0]] ?? 'Create your account'
}

/** Of the link that was opened. Only this tab has it, until it is used. */
let token

const showMailForm = startMailForm({
  operation: 'sign-up',
  show,
  instruction: 'All it takes is an email address.',
  sent: 'The mail is on its way.',
})

/** Without a password, for the first request of a link: only an address that is to become an account needs one. */
async function confirm(password) {
  const answer = await call('confirm-email', { token, ...(password !== undefined && { password }) }).catch(
    (error) => {
      if (error.code === 'missing_parameter' && isWrong(error, 'password')) return 'password'
      if (error.code !== 'mail_link_invalid') throw error
      token = undefined
      return refuseLink(error)
    },
  )
  if (!answer) return
  if (answer === 'password') return askForPassword()
  token = undefined
  if (answer.api_key) await showKey(answer, password)
  else showChange(answer)
}

/** It may have been the link of an invitation, or of a new address for an account. */
async function refuseLink(error) {
  const { sign_up: mode } = await installation
  const otherwise =
    mode === 'invite' ? 'ask the operator of the gateway for an invitation' : 'ask for a new link'
  const sentence = `${sentenceOf(error)} If you have an account, sign in. Otherwise, ${otherwise}.`
  if (mode !== 'invite') return showMailForm(sentence)
  show('sign-in-link')
  say(sentence, { isProblem: true })
}

function askForPassword() {
  show('password-form')
  say('Your address is right. Choose a password.')
  element('password').focus()
}

async function showKey({ email, api_key: apiKey }, password) {
  // Where password managers look for the name that belongs to the password.
  element('username').value = email
  const { simulator_url: simulatorUrl } = await installation
  show('key-view')
  say('One more thing: keep the key.')
  element('key').textContent = apiKey
  showFirstCommands(apiKey, { simulatorUrl })
  element('key-title').focus()
  onClick(element('open-account'), { sentenceOf, work: () => openAccount({ email, password }) })
}

function showChange({ email }) {
  show('changed-view')
  say('Done.')
  element('changed-to').textContent = email
  element('changed-title').focus()
}

async function begin() {
  token = takeMailedSecret() ?? token
  if (await isClosed()) return
  if (token === undefined) {
    if (await isClosed('invite')) return show('sign-in-link')
    return showMailForm()
  }
  // Programs that load the links of mails must not use them up.
  show('continue')
  say('This link works once.')
  element('continue').focus()
}

onClick(element('continue'), { sentenceOf, work: () => confirm() })
onSubmit('password-form', { sentenceOf, work: ({ password }) => confirm(password) })
startCopying()
startRevealing()
addEventListener('hashchange', () => {
  if (location.hash) void begin()
})
void begin()
