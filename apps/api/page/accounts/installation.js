import { installation } from '../shared/installation.js'
import { say } from '../shared/view.js'

const closed = {
  off: 'People have no accounts on this gateway. Ask its operator for an API key.',
  invite:
    'Only people whom its operator invites get an account on this gateway. Ask its operator for an invitation.',
}

/** Whether SIGN_UP has this value, with which the page has nothing to offer. Says so. */
export async function isClosed(mode = 'off') {
  if ((await installation).sign_up !== mode) return false
  say(closed[mode], { isProblem: true })
  return true
}
