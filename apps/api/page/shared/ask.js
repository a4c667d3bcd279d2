import { element } from './view.js'

/** Asks in a dialog. Resolves to true when the person confirms. */
export function ask(question, { yes }) {
  const dialog = element('question')
  element('question-text').textContent = question
  element('question-yes').textContent = yes
  dialog.showModal()
  // What cannot be undone is not what the Enter key does.
  element('question-no').focus()
  return new Promise((resolve) => {
    element('question-yes').onclick = () => dialog.close('yes')
    element('question-no').onclick = () => dialog.close('no')
    dialog.returnValue = ''
    dialog.onclose = () => {
      // The focus returns to the button that has asked once that is enabled again.
      document.activeElement.blur()
      resolve(dialog.returnValue === 'yes')
    }
  })
}
