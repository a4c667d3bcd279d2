import { element, say, whileBusy } from './view.js'

/**
 * Calls `work` with the fields of a form when it is submitted. What fails is said with `sentenceOf`, and the focus moves to
 * the field that is to be corrected. `at`: the id of the status line.
 */
export function onSubmit(id, { work, sentenceOf, at = 'status' }) {
  const form = element(id)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const button = form.querySelector('[type=submit]')
    if (button.disabled) return
    for (const field of form.elements) field.removeAttribute('aria-invalid')
    const fields = Object.fromEntries(new FormData(form))
    void whileBusy(button, () => work(fields)).catch((error) => {
      say(sentenceOf(error), { isProblem: true, at })
      markWrong(form, error)
    })
  })
}

/** Does `work` when the button is clicked, and says what fails. */
export function onClick(button, { work, sentenceOf, at = 'status' }) {
  button.addEventListener('click', () => {
    void whileBusy(button, work).catch((error) => say(sentenceOf(error), { isProblem: true, at }))
  })
}

function markWrong(form, { code, details = [] }) {
  const wrong = details.map(({ parameter }) => parameter)
  const names = code === 'wrong_password' ? ['old_password', 'password'] : wrong
  const field = names.map((name) => form.elements.namedItem(name)).find(Boolean)
  if (!field) return
  field.setAttribute('aria-invalid', 'true')
  field.focus()
  field.select()
}

/** Makes each button with `data-reveals` show the password in the field of that id, and hide it again. */
export function startRevealing() {
  for (const button of document.querySelectorAll('[data-reveals]')) {
    const field = element(button.dataset.reveals)
    const reveal = (isShown) => {
      field.type = isShown ? 'text' : 'password'
      button.setAttribute('aria-pressed', String(isShown))
    }
    button.addEventListener('click', () => reveal(field.type === 'password'))
    // Otherwise browsers offer the password among the texts that were typed before.
    field.form.addEventListener('submit', () => reveal(false))
  }
}
