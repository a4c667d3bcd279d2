import { api } from './api.js'
import { byId } from './dom.js'

/** The dialog in which a phone scans a QR code: its text, or a picture that is chosen, dropped or pasted. */
export function scanDialog({ linked }) {
  const dialog = byId('scan')
  const file = byId('scan-file')
  const drop = byId('scan-drop')
  let picture

  function show(number = '') {
    byId('scan-form').reset()
    setPicture(undefined)
    setError('')
    byId('scan-number').value = number
    dialog.showModal()
  }

  function setPicture(dataUrl, name) {
    picture = dataUrl
    byId('scan-picture').textContent = dataUrl
      ? `Picture: ${name}`
      : 'Or a picture of it: choose, drop or paste one'
  }

  function setError(sentence) {
    byId('scan-error').textContent = sentence
    byId('scan-error').hidden = !sentence
  }

  async function readPicture(blob) {
    if (!blob?.type.startsWith('image/')) return
    try {
      setPicture(await toPng(blob), blob.name ?? 'from the clipboard')
      setError('')
    } catch {
      setError('The picture cannot be opened. Choose a PNG or JPEG.')
    }
  }

  async function submit(event) {
    event.preventDefault()
    const number = byId('scan-number').value.replace(/\D/g, '')
    const qr = picture ?? byId('scan-text').value.trim()
    if (!qr) {
      setError('Paste the text of a QR code or choose a picture of one.')
      return
    }
    const button = byId('scan-submit')
    button.disabled = true
    button.textContent = 'Linking …'
    try {
      await api.scan(qr, number)
      dialog.close()
      linked(number)
    } catch (error) {
      setError(error.message)
    } finally {
      button.disabled = false
      button.textContent = 'Link'
    }
  }

  byId('open-scan').addEventListener('click', () => show())
  byId('scan-cancel').addEventListener('click', () => dialog.close())
  byId('scan-form').addEventListener('submit', submit)
  file.addEventListener('change', () => readPicture(file.files[0]))
  dialog.addEventListener('paste', (event) => readPicture([...event.clipboardData.files][0]))
  drop.addEventListener('dragover', (event) => {
    event.preventDefault()
    drop.classList.add('over')
  })
  drop.addEventListener('dragleave', () => drop.classList.remove('over'))
  drop.addEventListener('drop', (event) => {
    event.preventDefault()
    drop.classList.remove('over')
    void readPicture(event.dataTransfer.files[0])
  })
}

/** The simulator reads PNG only, so the browser converts other formats. */
async function toPng(blob) {
  const image = await createImageBitmap(blob)
  const canvas = document.createElement('canvas')
  canvas.width = image.width
  canvas.height = image.height
  canvas.getContext('2d').drawImage(image, 0, 0)
  return canvas.toDataURL('image/png')
}
