import { installation } from '../shared/installation.js'
import { element } from '../shared/view.js'

const { sign_up: signUp = 'off', simulator_url: simulatorUrl } = await installation
element('accounts').hidden = signUp === 'off'
element('sign-up').hidden = signUp !== 'open'
if (simulatorUrl) {
  element('phones').href = simulatorUrl
  element('simulator').hidden = false
}
