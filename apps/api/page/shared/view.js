export const element = (id) => document.getElementById(id)

/** Shows these of the `views` only. */
export function showOnly(views, ids) {
  for (const id of views) element(id).hidden = !ids.includes(id)
}

/** Screen readers announce it. The same text is not announced twice. */
export function say(text, { isProblem = false, at = 'status' } = {}) {
  const status = element(at)
  if (status.textContent !== text) status.textContent = text
  status.classList.toggle('problem', isProblem)
}

/** Disables the button of a form, or the button, while the work runs. It keeps the focus, unless the work moves it. */
export async function whileBusy(button, work) {
  const hadFocus = document.activeElement === button
  button.disabled = true
  try {
    return await work()
  } finally {
    button.disabled = false
    if (hadFocus && document.activeElement === document.body) button.focus()
  }
}
