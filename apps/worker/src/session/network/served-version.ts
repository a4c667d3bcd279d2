import { downloadedBy, makeWhatsAppFetch } from './whatsapp-fetch.ts'
import { WhatsAppRoute } from './whatsapp-route.ts'

/** The service worker of WhatsApp Web. It names the revision that browsers load at present. */
const pageUrl = 'https://web.whatsapp.com/sw.js'
/** Such a page is asked for by browsers only. */
const headers = {
  'sec-fetch-site': 'none',
  'user-agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
}
const limits = { bytesMax: 4 * 2 ** 20, deadlineMs: 10_000 }

/** Returns the present version of WhatsApp Web, as `2.3000.<revision>`. Throws when the page does not name one. */
export type ReadServedVersion = (signal: AbortSignal) => Promise<string>

export function makeReadServedVersion(given: { simulatedHost?: string | undefined }): ReadServedVersion {
  const fetchPage = makeWhatsAppFetch({ ...limits, isAllowed: ({ href }) => href === pageUrl })
  const route = downloadedBy(new WhatsAppRoute(given))
  return async (signal) => {
    const response = await fetchPage(pageUrl, { ...route, headers, signal })
    if (!response.ok) throw new Error(`WhatsApp Web answered with status ${response.status}`)
    const [, revision] = /\\?"client_revision\\?":\s*(\d{1,15})\b/.exec(await response.text()) ?? []
    if (revision === undefined) throw new Error('The page of WhatsApp Web names no revision')
    return `2.3000.${revision}`
  }
}
