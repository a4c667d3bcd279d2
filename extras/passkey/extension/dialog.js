const prefix = '#wagate-challenge='

if (location.hash.startsWith(prefix)) {
  const request = readRequest(location.hash.slice(prefix.length))
  // A reload shall not ask again.
  history.replaceState(null, '', location.pathname)
  document.addEventListener('DOMContentLoaded', () => showDialog(request))
}

/** base64url of JSON. */
function readRequest(encoded) {
  const bytes = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
}

function showDialog(request) {
  const dialog = add(document.documentElement, 'dialog')
  dialog.setAttribute('aria-label', 'Link a device with your passkey')
  Object.assign(dialog.style, {
    width: '22rem',
    padding: '1.5rem',
    border: '0',
    borderRadius: '0.75rem',
    font: '16px/1.5 system-ui, sans-serif',
    color: 'CanvasText',
    background: 'Canvas',
    colorScheme: 'light dark',
  })
  const say = add(dialog, 'p')
  say.setAttribute('role', 'status')
  say.textContent =
    'A gateway asks for the passkey of your WhatsApp account, to be linked as a device. Go on only if you have just scanned its QR code: a linked device can read and send messages.'
  const answer = add(dialog, 'textarea')
  Object.assign(answer.style, { width: '100%', height: '6rem', boxSizing: 'border-box' })
  answer.setAttribute('aria-label', 'Answer')
  Object.assign(answer, { readOnly: true, hidden: true })
  const go = addButton(dialog, 'Use your passkey')
  addButton(dialog, 'Cancel').onclick = () => dialog.remove()

  async function copy() {
    answer.select()
    await navigator.clipboard.writeText(answer.value)
    say.textContent = 'Copied. Paste the answer on the page of the gateway.'
  }

  go.onclick = async () => {
    go.disabled = true
    try {
      answer.value = await makeAssertion(request)
      answer.hidden = false
      say.textContent =
        'Copy this answer, and paste it on the page of the gateway. Do not give it to anyone else.'
      go.textContent = 'Copy'
      go.onclick = () => void copy().catch(() => undefined)
    } catch (error) {
      say.textContent = `The passkey was not used: ${error.message}`
    } finally {
      go.disabled = false
    }
  }
  dialog.showModal()
}

function addButton(parent, text) {
  const button = add(parent, 'button')
  Object.assign(button.style, { margin: '1rem 0.5rem 0 0', padding: '0.5rem 1rem', font: 'inherit' })
  button.textContent = text
  return button
}

function add(parent, tag) {
  return parent.appendChild(document.createElement(tag))
}
