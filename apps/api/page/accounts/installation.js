import { say } from '../shared/view.js'
import { sentenceOf } from './sentences.js'

/** What pages may know of the gateway before a person has signed in. Empty if it cannot be read. */
export const installation = fetch('/accounts/installation.json')
  .then((response) => response.json())
  .catch(() => ({}))

/** Says so if people have no accounts here. `modes`: the values of SIGN_UP with which a page has nothing to offer. */
export async function isClosed(modes = ['off']) {
  const { sign_up: mode } = await installation
  if (!modes.includes(mode)) return false
  say(sentenceOf({ code: 'sign_up_closed' }), { isProblem: true })
  return true
}
