import { onSubmit, startRevealing } from '../shared/form.js'
import { installation } from '../shared/installation.js'
import { element, say } from '../shared/view.js'
import { isClosed } from './installation.js'
import { isWrong, sentenceOf } from './sentences.js'
import { openAccount } from './session.js'

/** The same for a password that no account can have as for one that this account does not have. */
const sentence = (error) => sentenceOf(isWrong(error, 'password') ? { code: 'wrong_password' } : error)

async function begin() {
  if (await isClosed()) return
  element('sign-up-link').hidden = (await installation).sign_up === 'invite'
  element('sign-in-form').hidden = false
  say('With the address and the password of your account.')
  element('email').focus()
}

onSubmit('sign-in-form', { sentenceOf: sentence, work: openAccount })
startRevealing()
void begin()
