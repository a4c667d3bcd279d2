import { onClick } from '../shared/form.js'
import { makeElement } from '../shared/make-element.js'
import { element, say } from '../shared/view.js'
import { sentenceOf } from './sentences.js'
import { readSigned } from './session.js'

const pageRows = 50

/**
 * A list of what an operation returns page by page. `toRow` makes an item of a record, or nothing. Returns a function that
 * reads the list again.
 */
export function showRecords(operation, { list, records, more, empty, toRow }) {
  const button = element(more)
  let after

  async function readPage() {
    const query = { limit: pageRows, ...(after !== undefined && { after }) }
    const answer = await readSigned(operation, query)
    after = answer.next_after ?? undefined
    button.hidden = !answer.has_more
    return answer[records].map(toRow).filter(Boolean)
  }

  onClick(button, {
    sentenceOf,
    work: async () => {
      const rows = await readPage()
      element(list).append(...rows)
      rows[0]?.querySelector('button')?.focus()
    },
  })
  return async () => {
    after = undefined
    const rows = await readPage()
    element(list).replaceChildren(
      ...(rows.length > 0 ? rows : [makeElement('li', { className: 'hint' }, empty)]),
    )
  }
}

/** A row with a name, what is known of the thing, and its buttons. Those that are empty are left out. */
export function makeRow({ name, badge, facts, buttons }) {
  const title = makeElement('p', { className: 'name' }, name)
  if (badge) title.append(' ', makeElement('span', { className: `badge ${badge.kind ?? ''}` }, badge.text))
  return makeElement(
    'li',
    {},
    makeElement('div', {}, title, makeElement('p', { className: 'hint' }, facts.filter(Boolean).join(' · '))),
    makeElement('span', { className: 'buttons' }, ...buttons.filter(Boolean).map(makeButton)),
  )
}

function makeButton({ text, label, at, work }) {
  const button = makeElement('button', { className: 'quiet', type: 'button', ariaLabel: label }, text)
  onClick(button, { sentenceOf, at, work })
  return button
}

/** After a change that has taken the focused row away. */
export function moveTo(title, sentence, at) {
  element(title).focus()
  say(sentence, { at })
}
