import { onSubmit } from '../shared/form.js'
import { call } from '../shared/gateway.js'
import { installation } from '../shared/installation.js'
import { element, say } from '../shared/view.js'
import { sentenceOf } from './sentences.js'

/** The secret of a link that came by mail. It leaves the address bar and the history before anything else happens. */
export function takeMailedSecret() {
  const secret = /^#(wag_mail_\w+)$/.exec(location.hash)?.[1]
  if (location.hash) history.replaceState(null, '', location.pathname)
  return secret
}

async function showSimulatedMailbox() {
  const { simulator_url: url } = await installation
  element('simulated-mailbox').hidden = url === undefined
  element('simulated-mailbox').querySelector('a').href = `${url}/mailbox.html`
}

/**
 * The form that asks for a mail, and what to do until it comes. `show` shows the views of the page with these ids. `sent` is
 * said once the mail is asked for. Returns a function that shows the form.
 */
export function startMailForm({ operation, show, instruction, sent }) {
  function showForm(problem) {
    show('email-form', 'sign-in-link')
    say(problem ?? instruction, { isProblem: problem !== undefined })
    element('email').focus()
  }

  onSubmit('email-form', {
    sentenceOf,
    async work(fields) {
      const { email, expires_in: seconds } = await call(operation, fields)
      show('mailbox-view')
      say(sent)
      element('sent-to').textContent = email
      element('usable-for').textContent = seconds >= 7200 ? `${Math.floor(seconds / 3600)} hours` : 'one hour'
      await showSimulatedMailbox()
      element('mailbox-title').focus()
    },
  })
  element('mail-again').addEventListener('click', () => showForm())
  return showForm
}
