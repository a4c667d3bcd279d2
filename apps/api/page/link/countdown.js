import { element } from '../shared/view.js'
import { fill } from './texts.js'

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`

/**
 * Shows how long something is valid, in the element of that id. `endsAtMs` is in the time of `Date.now()`, or undefined to
 * show nothing. Returns how to set it.
 */
export function makeCountdown(id, text) {
  let endsAtMs
  function show() {
    const seconds = Math.ceil((endsAtMs - Date.now()) / 1000)
    const isShown = seconds > 0
    element(id).hidden = !isShown
    if (isShown) element(id).textContent = fill(text, { time: clock(seconds) })
  }
  show()
  setInterval(show, 1000)
  return (atMs) => {
    endsAtMs = atMs
    show()
  }
}
