export const element = (id) => document.getElementById(id)

const views = ['continue', 'key-view', 'scan-view', 'passkey-view', 'done', 'again']

/** Shows these views only. */
export function show(...ids) {
  for (const id of views) element(id).hidden = !ids.includes(id)
}

/** Screen readers announce it. The same text is not announced twice. */
export function say(text, { isProblem = false } = {}) {
  const status = element('status')
  if (status.textContent !== text) status.textContent = text
  status.classList.toggle('problem', isProblem)
}

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

/** Disables the button of a form, or the button, while the work runs. */
export async function whileBusy(button, work) {
  button.disabled = true
  try {
    return await work()
  } finally {
    button.disabled = false
  }
}
