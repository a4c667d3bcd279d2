import { parse, serialize } from 'hono/utils/cookie'
import type { Config } from '../config.ts'
import { AppError } from '../errors/app-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import { isOfSession } from './api-key.ts'

/** How long a session lasts at most. */
export const sessionDays = 14

export type SessionCookie = {
  /** The secret of the caller's session, if the request comes from a page of ours. Throws `origin_refused`. */
  read(): string | undefined
  write(secret: string): void
  /** Whether a page of ours has sent the request. Programs keep no cookies. */
  isOfPage(): boolean
  clear(): void
  /** Of our pages. */
  origin(): string
}

/** No other site can send it without a preflight, which no path answers. */
const pageHeader = 'x-wagate-page'

export function makeSessionCookie(
  { raw, responseHeaders, findOrigin }: RequestContext,
  { http: { publicUrl } }: Pick<Config, 'http'>,
): SessionCookie {
  const isSecure = publicUrl?.startsWith('https:') ?? false
  // The prefix keeps other hosts of the domain from setting the cookie.
  const name = isSecure ? '__Host-wagate_session' : 'wagate_session'
  const set = (value: string, maxAge: number) => {
    responseHeaders['Set-Cookie'] = serialize(name, value, {
      path: '/',
      httpOnly: true,
      secure: isSecure,
      sameSite: 'Strict',
      maxAge,
    })
  }
  const isOfPage = () => raw.headers.get(pageHeader) !== null
  const origin = () => publicUrl ?? findOrigin()
  return {
    origin,
    isOfPage,
    read() {
      if (!isOfPage()) return undefined
      refuseOtherOrigins(raw.headers, origin())
      const secret = parse(raw.headers.get('cookie') ?? '', name)[name]
      return secret !== undefined && isOfSession(secret) ? secret : undefined
    },
    write: (secret) => set(secret, sessionDays * 86_400),
    clear: () => set('', 0),
  }
}

/** Browsers name the origin in every POST and in every request to another site. Programs need not. */
export function refuseOtherOrigins(headers: Headers, own: string): void {
  const origin = headers.get('origin')
  const site = headers.get('sec-fetch-site')
  const isOther = (origin !== null && origin !== own) || (site !== null && !/^(same-origin|none)$/.test(site))
  if (!isOther) return
  throw new AppError('origin_refused', `Pages of other sites are refused. Open the gateway at ${own}.`)
}
