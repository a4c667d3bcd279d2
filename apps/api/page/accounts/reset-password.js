import { onSubmit, startRevealing } from '../shared/form.js'
import { call } from '../shared/gateway.js'
import { element, say, showOnly } from '../shared/view.js'
import { isClosed } from './installation.js'
import { startMailForm, takeMailedSecret } from './mailed-link.js'
import { sentenceOf } from './sentences.js'
import { leaveFor, openAccount } from './session.js'

const show = (...ids) => showOnly(['email-form', 'sign-in-link', 'mailbox-view', 'password-form'], ids)

/** Of the link that was opened. Only this tab has it, until it is used. */
let token

const showMailForm = startMailForm({
  operation: 'forgot-password',
  show,
  instruction: 'Type the address of your account.',
  sent: 'Almost done.',
})

async function reset({ password }) {
  const { email } = await call('reset-password', { token, password }).catch((error) => {
    if (error.code !== 'mail_link_invalid') throw error
    token = undefined
    showMailForm(`${sentenceOf(error)} Ask for a new one.`)
    return {}
  })
  if (email === undefined) return
  token = undefined
  // Where password managers look for the name that belongs to the password.
  element('username').value = email
  await openAccount({ email, password }).catch(() => leaveFor('/sign-in'))
}

async function begin() {
  token = takeMailedSecret() ?? token
  if (await isClosed()) return
  if (token === undefined) return showMailForm()
  show('password-form')
  say('Choose a new password.')
  element('password').focus()
}

onSubmit('password-form', { sentenceOf, work: reset })
startRevealing()
addEventListener('hashchange', () => {
  if (location.hash) void begin()
})
void begin()
