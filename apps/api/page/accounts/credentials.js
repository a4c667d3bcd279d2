import { onSubmit } from '../shared/form.js'
import { element, say } from '../shared/view.js'
import { isWrong, sentenceOf } from './sentences.js'
import { callSigned } from './session.js'

/** The old password may also be one that no account can have. */
const isPasswordWrong = (error) => error.code === 'wrong_password' || isWrong(error, 'old_password')

const wrong = (error) => (isPasswordWrong(error) ? 'The password is wrong.' : sentenceOf(error))

/** `listSessions` shows which browsers are left. */
export function startCredentials({ listSessions }) {
  onSubmit('password-form', {
    sentenceOf: wrong,
    at: 'password-status',
    async work(fields) {
      await callSigned('change-password', fields)
      element('password-form').reset()
      await listSessions()
      say('The password is changed. All other browsers are signed out.', { at: 'password-status' })
    },
  })
  onSubmit('address-form', {
    sentenceOf: wrong,
    at: 'address-status',
    async work(fields) {
      const { email } = await callSigned('change-email', fields)
      element('address-form').reset()
      say(`Look into the mailbox of ${email}, and open the link there.`, { at: 'address-status' })
    },
  })
}

/** The deletion of the account. `showDeleted` gets the answer, which has the proof. */
export function startDeletion(showDeleted) {
  onSubmit('deletion-form', {
    sentenceOf: wrong,
    at: 'deletion-status',
    work: async (fields) => showDeleted(await callSigned('delete-account', fields)),
  })
}
