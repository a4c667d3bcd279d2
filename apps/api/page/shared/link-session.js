/** Where a tab keeps the session of a link for a reload. It can only link one sender, and only for ten minutes. */
const item = 'wagate-link-session'

/** What `open-link` returned, and `endsAtMs`. Undefined without one. */
export function findLinkSession() {
  const kept = sessionStorage.getItem(item)
  try {
    const found = JSON.parse(kept)
    return found?.session ? found : undefined
  } catch {
    return undefined
  }
}

export function keepLinkSession({ session, sender, name, title, return_url, expires_in }) {
  const kept = { session, sender, name, title, return_url, endsAtMs: Date.now() + expires_in * 1000 }
  sessionStorage.setItem(item, JSON.stringify(kept))
  return kept
}

export const forgetLinkSession = () => sessionStorage.removeItem(item)
