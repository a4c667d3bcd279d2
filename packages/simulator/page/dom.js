/** Builds an element; text is always text, never markup. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'class') element.className = value
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false))
  return element
}

export const byId = (id) => document.getElementById(id)

/** Redraws only when what is shown has changed, so that focus and scroll position survive the refresh. */
export function drawer(draw) {
  let drawn
  return (view) => {
    const key = JSON.stringify(view)
    if (key === drawn) return
    drawn = key
    draw(view)
  }
}

export function shortTime(iso) {
  const time = new Date(iso)
  const isToday = time.toDateString() === new Date().toDateString()
  return isToday
    ? time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
    : time.toLocaleDateString([], { day: 'numeric', month: 'short' })
}

export function fileSize(bytes) {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
