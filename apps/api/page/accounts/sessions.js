import { onClick } from '../shared/form.js'
import { timeText } from '../shared/make-element.js'
import { element } from '../shared/view.js'
import { makeRow, moveTo } from './records.js'
import { sentenceOf } from './sentences.js'
import { callSigned } from './session.js'

const at = 'sessions-status'

/** In this order, because each browser also names those that it resembles. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
]
const platforms = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'Mac'],
  ['Linux', 'Linux'],
]

function describe(userAgent) {
  const find = (names) => names.find(([part]) => userAgent?.includes(part))?.[1]
  const [browser, platform] = [find(browsers), find(platforms)]
  if (browser && platform) return `${browser} on ${platform}`
  return browser ?? platform ?? 'Another program'
}

/** Returns a function that reads the list. */
export function startSessions() {
  async function end(which, sentence) {
    await callSigned('end-session', which)
    await list()
    moveTo('sessions-title', sentence, at)
  }

  function toRow({ session_id: id, is_current: isCurrent, user_agent, network, created_at, last_used_at }) {
    const name = describe(user_agent)
    return makeRow({
      name,
      badge: isCurrent && { text: 'This browser', kind: 'good' },
      facts: [network, `signed in ${timeText(created_at)}`, last_used_at && `used ${timeText(last_used_at)}`],
      buttons: [
        !isCurrent && {
          text: 'Sign out',
          label: `Sign out ${name}, ${network}`,
          at,
          work: () => end({ session_id: id }, `${name} is signed out.`),
        },
      ],
    })
  }

  async function list() {
    const { sessions } = await callSigned('sessions')
    element('sessions').replaceChildren(...sessions.map(toRow))
    element('end-others').hidden = sessions.every(({ is_current: isCurrent }) => isCurrent)
  }

  onClick(element('end-others'), {
    sentenceOf,
    at,
    work: () => end({ all: true }, 'All other browsers are signed out.'),
  })
  return list
}
