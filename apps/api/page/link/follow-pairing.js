import { element, say, whileBusy } from '../shared/view.js'
import { showPasskey } from './passkey.js'
import { isTemporary, reasonSentence, sentenceOf } from './sentences.js'
import { texts } from './texts.js'
import { isPhone, show, showCode, showDone, showQr } from './view.js'

const passkeyStatuses = ['passkey_required', 'passkey_confirmation_required']

/** There is nothing to scan any more: the status says what is next. */
const isBeyondQr = ({ code }) => code === 'already_connected' || code.startsWith('passkey_')

/**
 * Starts a pairing and shows each of its steps until the sender is linked or a person has to act. `onRefused` gets what
 * cannot be tried again.
 */
export async function followPairing(call, { signal, onRefused }) {
  let version
  let isStarted = false
  /** A new worker knows nothing of a pairing code that an earlier one gave out. */
  let isCodeLost = false
  let isCodeOffered = false

  async function requestCode() {
    const { pairing_code: code, expires_in: forSeconds } = await call('pair-code', {}, signal)
    showCode(code, forSeconds)
    say(texts.untilTyped)
    element('copy-code').focus()
  }

  /** Without a code, the person can still scan with another phone. */
  const offerCode = () =>
    requestCode().catch((error) => {
      if (!signal.aborted) say(sentenceOf(error), { isProblem: true })
    })

  async function step() {
    if (!isStarted) {
      await call('generate-qr', {}, signal).catch((error) => {
        if (!isBeyondQr(error)) throw error
      })
      isStarted = true
    }
    const pairing = await call('pairing-status', { after: version }, signal)
    version = pairing.version
    return showStep(pairing)
  }

  /** True when nothing more will happen without a person. */
  async function showStep(pairing) {
    const { status, status_reason: reason, sender, qr_data_url: qr } = pairing
    if (status === 'connected') {
      showDone(sender)
      return true
    }
    if (passkeyStatuses.includes(status)) {
      // The step may be over by now. The next status says so.
      await showPasskey(call, status, signal).catch((error) => {
        if (error.code !== 'no_passkey_pending') throw error
      })
      return false
    }
    if (status === 'disconnected') {
      showCode('')
      show('again')
      say(reasonSentence(reason, `+${sender}`), { isProblem: true })
      element('again').focus()
      return true
    }
    showQr(pairing)
    if (qr && isPhone && !isCodeOffered) {
      isCodeOffered = true
      await offerCode()
    }
    const hasCode = !element('code-view').hidden
    if (qr && hasCode && isCodeLost) await requestCode()
    isCodeLost = qr === null && hasCode
    return false
  }

  element('use-code').onclick = (event) =>
    void whileBusy(event.currentTarget, requestCode).catch((error) => {
      if (!signal.aborted) say(sentenceOf(error), { isProblem: true })
    })

  let failures = 0
  while (!signal.aborted) {
    try {
      if (await step()) return
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (!isTemporary(error)) return onRefused(error)
      say(sentenceOf(error), { isProblem: true })
      // The pairing may have ended meanwhile.
      isStarted = false
      version = undefined
      failures += 1
      await pause(Math.max(error.retryAfterSeconds * 1000, Math.min(500 * 2 ** failures, 10_000)), signal)
    }
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
