import { element, say, showOnly } from '../shared/view.js'
import { makeCountdown } from './countdown.js'
import { fill, texts } from './texts.js'

const views = ['continue', 'key-view', 'scan-view', 'passkey-view', 'done', 'again', 'ended', 'return']

/** The link as `open-link` returned it, and when it ends. Empty for people with an API key. */
let link = {}
const countLink = makeCountdown('link-ends', 'linkEnds')
const countCode = makeCountdown('code-ends', 'codeEnds')

/** A phone cannot scan its own screen. */
export const isPhone = matchMedia('(pointer: coarse) and (max-width: 40rem)').matches

export function setLink(opened) {
  link = opened
  countLink(opened.endsAtMs)
}

export function show(...ids) {
  showOnly(views, ids)
  // Who asks and for how long matters while there is something to do.
  element('about').hidden = !link.sender || !ids.includes('scan-view')
  if (!ids.includes('scan-view')) countCode(undefined)
}

export function showQr({ qr_data_url: source, sender }) {
  show('scan-view')
  element('asker').textContent = asker(`+${sender}`)
  element('scan-title').textContent = fill('scanTitle', { number: `+${sender}` })
  const image = element('qr')
  image.hidden = source === null
  if (source === null) image.removeAttribute('src')
  else image.src = source
  element('rotation').textContent = source ? texts.rotation : ''
  say(source ? texts.untilScan : texts.untilCode)
}

function asker(number) {
  const { title, name, sender } = link
  const who = title ?? (name === sender ? undefined : name)
  return who ? fill('asksFor', { who, number }) : fill('linking', { number })
}

/** With a code, the QR code is folded: the person has asked for the code, or cannot scan. */
export function showCode(code, forSeconds = 0) {
  const hasCode = Boolean(code)
  const shown = element('code')
  shown.textContent = hasCode ? `${code.slice(0, 4)}-${code.slice(4)}` : ''
  shown.dataset.copied = code
  element('code-view').hidden = !hasCode
  element('use-code').hidden = hasCode
  element('qr-view').open = !hasCode
  element('scan-view').classList.toggle('code-first', hasCode)
  countCode(hasCode ? Date.now() + forSeconds * 1000 : undefined)
}

export function showDone(sender) {
  const url = returnUrl()
  show('done', ...(url ? ['return'] : []))
  showCode('')
  countLink(undefined)
  say(fill(url ? 'doneReturn' : 'done', { number: `+${sender}` }))
  if (!url) return
  const anchor = element('return')
  anchor.href = url.href
  anchor.textContent = fill('goOn', { host: url.host })
  anchor.focus()
}

/** As the gateway has checked it, and checked again: a link of another kind would run in this page. */
function returnUrl() {
  if (!link.return_url || !URL.canParse(link.return_url)) return undefined
  const url = new URL(link.return_url)
  return ['https:', 'http:'].includes(url.protocol) ? url : undefined
}

/** Nothing can be done here any more. */
export function showEnd(sentence) {
  show('ended')
  countLink(undefined)
  say(sentence, { isProblem: true })
}
