import { startCopying } from '../shared/copy.js'
import { makeGateway } from '../shared/gateway.js'
import { findLinkSession, forgetLinkSession, keepLinkSession } from '../shared/link-session.js'
import { element, say } from '../shared/view.js'
import { followPairing } from './follow-pairing.js'
import { isTemporary, sentenceOf } from './sentences.js'
import { texts, translatePage } from './texts.js'
import { setLink, show, showEnd } from './view.js'

translatePage()
startCopying({ words: texts, at: 'copy-status' })

/** The account page sends people here with it. It stays in the address for a reload. */
const fromAccount = '#account'

/** What the open pairing waits for is aborted with it. */
let running = new AbortController()

async function follow(call, onRefused) {
  running.abort()
  running = new AbortController()
  const { signal } = running
  const run = () => followPairing(call, { signal, onRefused })
  element('again').onclick = () => {
    say(texts.askingAgain)
    show()
    void run()
  }
  say(texts.asking)
  show()
  await run()
}

function askForKey(problem) {
  show('key-view')
  say(problem ?? texts.enterKey, { isProblem: problem !== undefined })
  element('key').focus()
}

element('key-view').addEventListener('submit', (event) => {
  event.preventDefault()
  const call = makeGateway(element('key').value.trim(), { sender: element('sender').value.trim() })
  void follow(call, (error) => askForKey(sentenceOf(error)))
})

const findSecret = () => /^#(wag_link_\w+)$/.exec(location.hash)?.[1]

/** Programs that load pages of links, such as scanners of mails, must not use the link up. A reload asks again. */
function askToContinue(secret) {
  show('continue')
  say(texts.opensOnce)
  element('continue').onclick = () => void openLink(secret)
  element('continue').focus()
}

/** The secret leaves the address bar and the history before the first request. */
function clearAddress() {
  if (location.hash && location.hash !== fromAccount) history.replaceState(null, '', '/link')
}

async function openLink(secret) {
  clearAddress()
  forgetLinkSession()
  say(texts.opening)
  show()
  try {
    await followSession(keepLinkSession(await makeGateway(secret)('open-link')))
  } catch (error) {
    if (!isTemporary(error)) return refuseLink(error)
    say(sentenceOf(error), { isProblem: true })
    setTimeout(() => void openLink(secret), Math.max(2000, error.retryAfterSeconds * 1000))
  }
}

function followSession(link) {
  setLink(link)
  return follow(makeGateway(link.session), (error) => {
    if (error.code === 'invalid_api_key' || error.code === 'expired_api_key') {
      forgetLinkSession()
    }
    refuseLink(error.code === 'expired_api_key' ? { code: 'expired_session' } : error)
  })
}

function refuseLink(error) {
  showEnd(sentenceOf(error.code === 'invalid_api_key' ? { code: 'invalid_link' } : error))
}

function begin() {
  running.abort()
  const secret = findSecret()
  const link = findLinkSession()
  if (secret) return askToContinue(secret)
  clearAddress()
  element('back').hidden = location.hash !== fromAccount
  if (link) void followSession(link)
  else askForKey()
}

addEventListener('hashchange', () => {
  if (location.hash) begin()
})
addEventListener('pagehide', () => running.abort())
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) begin()
})
begin()
