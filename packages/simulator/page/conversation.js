import { byId, drawer, el, shortTime } from './dom.js'
import { hasFile, mediaElement, mediaLine } from './media.js'

/** Groups what a handset shows by the other side, newest chat first. */
export function threadsOf(entries) {
  const threads = new Map()
  for (const entry of entries) {
    const thread = threads.get(entry.with) ?? { with: entry.with, entries: [] }
    thread.entries.push(entry)
    threads.delete(entry.with)
    threads.set(entry.with, thread)
  }
  return [...threads.values()].reverse().map((thread) => ({
    ...thread,
    last: preview(thread.entries.at(-1)),
    unread: thread.entries.filter((entry) => entry.status === 'received').length,
  }))
}

function preview(entry) {
  const content = entry.text ?? entry.caption ?? (entry.type === 'text' ? 'encrypted message' : entry.type)
  return `${entry.direction === 'out' ? 'You: ' : ''}${content}`
}

/** The simulator has a small file of each. */
const fileForms = {
  picture: 'Picture',
  video: 'Video',
  gif: 'GIF',
  video_note: 'Video note',
  audio: 'Audio file',
  voice_note: 'Voice note',
  sticker: 'Sticker',
  animated_sticker: 'Animated sticker',
  document: 'Document',
}

/** The conversation of one phone with one number. Its frame is built once per chat, so that typed text is not lost. */
export function conversationColumn({ back, reply, sendFile, markRead }) {
  const column = byId('conversation')
  const drawFrame = drawer(({ number, other }) => {
    column.replaceChildren(
      ...(other ? frame(number, other) : [el('p', { class: 'empty' }, 'Choose a chat.')]),
    )
  })
  const drawBubbles = drawer(({ number, entries }) => {
    const bubbles = byId('bubbles')
    if (!bubbles) return
    const isAtEnd = bubbles.scrollHeight - bubbles.scrollTop - bubbles.clientHeight < 60
    bubbles.replaceChildren(...entries.map((entry) => bubble(entry, number)))
    if (isAtEnd) bubbles.scrollTop = bubbles.scrollHeight
    byId('mark-read').hidden = !entries.some((entry) => entry.status === 'received')
  })

  function frame(number, other) {
    const input = el('input', {
      id: 'reply',
      'aria-label': 'Message',
      placeholder: 'Message',
      autocomplete: 'off',
    })
    const failure = el('p', { class: 'error', role: 'alert' })
    const attempt = async (send) => {
      try {
        await send()
        failure.textContent = ''
      } catch (error) {
        failure.textContent = error.message
      }
    }
    const submit = (event) => {
      event.preventDefault()
      const text = input.value.trim()
      if (!text) return
      void attempt(async () => {
        await reply(number, other, text)
        input.value = ''
      })
    }
    const chooseFile = ({ currentTarget }) => {
      const as = currentTarget.value
      currentTarget.value = ''
      void attempt(() => sendFile(number, other, as))
    }
    return [
      el(
        'div',
        { class: 'head' },
        el('button', { class: 'back', type: 'button', 'aria-label': 'Back', onclick: back }, '‹'),
        el(
          'div',
          { class: 'grow' },
          el('h2', {}, `+${other}`),
          el('p', { class: 'hint' }, `on the phone +${number}`),
        ),
        el(
          'button',
          { id: 'mark-read', class: 'quiet', type: 'button', hidden: true, onclick: markRead },
          'Mark as read',
        ),
      ),
      el('ol', { class: 'bubbles', id: 'bubbles' }),
      failure,
      el(
        'form',
        { class: 'reply', onsubmit: submit },
        el(
          'select',
          { id: 'send-file', 'aria-label': 'Send a file', onchange: chooseFile },
          el('option', { value: '' }, 'File'),
          ...Object.entries(fileForms).map(([value, name]) => el('option', { value }, name)),
        ),
        input,
        el('button', { class: 'primary', type: 'submit' }, 'Send'),
      ),
    ]
  }

  return (view) => {
    drawFrame({ number: view.number, other: view.other })
    drawBubbles(view)
  }
}

function bubble(entry, number) {
  const text = entry.text ?? entry.caption
  return el(
    'li',
    { class: `bubble ${entry.direction}` },
    hasFile(entry)
      ? mediaElement(entry, number)
      : entry.type !== 'text' && el('span', { class: 'media' }, mediaLine(entry)),
    text ?? (entry.type === 'text' ? '🔒 encrypted' : ''),
    el(
      'span',
      { class: 'meta' },
      `${shortTime(entry.at)} `,
      entry.direction === 'out' && ticks(entry.status),
    ),
  )
}

function ticks(status) {
  return el('span', { class: `ticks ${status}`, title: status }, status === 'sent' ? '✓' : '✓✓')
}
