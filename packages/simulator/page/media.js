import { el, fileSize } from './dom.js'

/** What a bubble shows of a file: the picture, a player, or the name of a document. */
export function mediaElement(entry, phone) {
  const { type, caption } = entry
  const src = addressOf(entry, phone)
  const label = el('span', { class: 'media' }, mediaLine(entry))
  // Its file has expired, or never arrived.
  if (entry.size === null) return label
  if (type === 'image' || type === 'sticker')
    return el('img', {
      class: 'shown',
      src,
      alt: caption ?? type,
      title: mediaLine(entry),
      loading: 'lazy',
      onerror: ({ currentTarget }) => currentTarget.replaceWith(label),
    })
  if (type === 'audio')
    return el('div', {}, el('audio', { class: 'shown', src, controls: true, preload: 'none' }), label)
  if (type === 'video' || type === 'ptv')
    return el('div', {}, el('video', { class: 'shown', src, controls: true, preload: 'metadata' }), label)
  return el(
    'a',
    { class: 'media', href: src, download: entry.filename ?? 'file' },
    entry.filename ?? 'Document',
    el('span', { class: 'hint' }, mediaLine(entry)),
  )
}

/** Messages of the phone itself have no sender in the address. */
function addressOf({ wa_message_id: id, direction, with: other }, phone) {
  const query = new URLSearchParams({ wa_message_id: id, ...(direction === 'in' && { from: other }) })
  return `/chats/${encodeURIComponent(phone)}/media?${query}`
}

export const hasFile = ({ type }) => ['image', 'sticker', 'audio', 'video', 'ptv', 'document'].includes(type)

export function mediaLine(entry) {
  return [entry.type, entry.mime, entry.size === null ? null : fileSize(entry.size)]
    .filter(Boolean)
    .join(' · ')
}
