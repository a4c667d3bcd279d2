import { element, say, showOnly } from '../shared/view.js'

const views = ['continue', 'key-view', 'scan-view', 'passkey-view', 'done', 'again']

export const show = (...ids) => showOnly(views, ids)

export function showQr({ qr_data_url: source, sender }) {
  show('scan-view')
  element('number').textContent = `+${sender}`
  const image = element('qr')
  image.hidden = source === null
  if (source === null) image.removeAttribute('src')
  else image.src = source
  element('rotation').textContent = source ? 'The code changes from time to time. That is normal.' : ''
  say(source ? 'Waiting for the scan.' : 'Waiting for a new code…')
}

export function showCode(code) {
  element('code').textContent = code ? `${code.slice(0, 4)}-${code.slice(4)}` : ''
  element('code-view').hidden = !code
  element('use-code').hidden = Boolean(code)
}

export function showDone(sender) {
  show('done')
  showCode('')
  say(`Connected. +${sender} is linked, and you can close this page.`)
}
