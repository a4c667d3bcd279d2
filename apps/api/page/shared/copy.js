import { element, say } from './view.js'

const shownMs = 2000
const english = {
  copy: 'Copy',
  copied: 'Copied',
  copyByHand: 'The text is selected. Copy it with Ctrl+C, or with ⌘C.',
}

/**
 * Makes each button with `data-copies` copy the text of the element of that id, or its `data-copied`. `at`: the id of the
 * status line.
 */
export function startCopying({ words = english, at = 'status' } = {}) {
  for (const button of document.querySelectorAll('[data-copies]')) {
    button.addEventListener('click', () => void copy(element(button.dataset.copies), button, { words, at }))
  }
}

async function copy(source, button, { words, at }) {
  try {
    await navigator.clipboard.writeText(source.dataset.copied ?? source.textContent)
  } catch {
    // Browsers give no clipboard to pages that come over http from another machine.
    getSelection().selectAllChildren(source)
    say(words.copyByHand, { at })
    return
  }
  say(`${words.copied}.`, { at })
  button.textContent = words.copied
  setTimeout(() => {
    button.textContent = words.copy
  }, shownMs)
}
