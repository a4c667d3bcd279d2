import { parseProxyUrl } from '@wagate/shared/proxy-url'
import { z } from 'zod'

const charactersMax = 2048
const message = 'must be http://[user:password@]host:port, socks5://[user:password@]host:port, or none'

/** `none` becomes null. */
export const proxy = z
  .string({ error: message })
  .max(charactersMax, message)
  .transform((text, issues) => {
    if (text === 'none') return null
    const url = parseProxyUrl(text)
    if (url) return url
    issues.addIssue({ code: 'custom', message })
    return z.NEVER
  })
