import { element, say } from './view.js'

const shownMs = 2000

/** Makes each button with `data-copies` copy the text of the element of that id. */
export function startCopying() {
  for (const button of document.querySelectorAll('[data-copies]')) {
    button.addEventListener('click', () => void copy(element(button.dataset.copies), button))
  }
}

async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent)
  } catch {
    // Browsers give no clipboard to pages that come over http from another machine.
    getSelection().selectAllChildren(source)
    say('The text is selected. Copy it with Ctrl+C, or with ⌘C.')
    return
  }
  say('Copied.')
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, shownMs)
}
