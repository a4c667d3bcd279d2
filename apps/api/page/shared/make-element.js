/** An element with these properties. Its children are elements or texts, never markup. Those that are empty are left out. */
export function makeElement(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children.filter(Boolean))
  return made
}

const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

export const timeText = (iso) => times.format(new Date(iso))
