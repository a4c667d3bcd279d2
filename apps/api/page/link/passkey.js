import { element, say, whileBusy } from '../shared/view.js'
import { sentenceOf } from './sentences.js'
import { texts } from './texts.js'
import { show } from './view.js'

/** The steps after a scan of an account that needs its passkey. Called for each change of the status. */
export async function showPasskey(call, status, signal) {
  const { challenge, code } = await call('passkey-challenge', {}, signal)
  if (signal.aborted) return
  const isNew = element('passkey-view').hidden
  show('passkey-view')
  element('assertion-step').hidden = challenge === null
  element('confirm-step').hidden = code === null
  if (challenge !== null) offerChallenge(JSON.stringify(challenge))
  element('passkey-code').textContent = code ? `${code.slice(0, 4)}-${code.slice(4)}` : ''
  say(status === 'passkey_required' ? texts.passkeyScanned : texts.compare)
  if (isNew) element('passkey-title').focus()
  element('assertion-form').onsubmit = (event) => {
    event.preventDefault()
    const assertion = element('assertion').value.trim()
    say(texts.untilPhone)
    void act(event.submitter, () => call('passkey-assertion', { assertion }, signal))
  }
  element('confirm-code').onclick = (event) =>
    void act(event.currentTarget, () => call('passkey-confirm', {}, signal))
}

function offerChallenge(text) {
  const bytes = new TextEncoder().encode(text)
  const encoded = btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
  element('challenge-link').href = `https://web.whatsapp.com/#wagate-challenge=${encoded}`
  element('copy-challenge').onclick = async () => {
    await navigator.clipboard.writeText(text)
    say(texts.passkeyCopied)
  }
}

/** The next step follows from the status, which the page follows anyway. */
async function act(button, work) {
  await whileBusy(button, work).catch((error) => say(sentenceOf(error), { isProblem: true }))
}
