import { AppError } from '../errors/app-error.ts'

/** Each trusted proxy has set or passed on X-Forwarded-Proto and X-Forwarded-Host; without one, they come from the client. */
export function findOrigin({ url, headers }: Pick<Request, 'url' | 'headers'>, proxies: number): string {
  const { protocol, host } = new URL(url)
  const forwarded = (name: string) => (proxies > 0 ? headers.get(name)?.split(',').at(-1)?.trim() : undefined)
  const scheme = forwarded('x-forwarded-proto') ?? protocol.slice(0, -1)
  const origin = `${scheme}://${forwarded('x-forwarded-host') ?? host}`
  if (/^https?:\/\/[^/?#@\\\s]+$/i.test(origin) && URL.canParse(origin)) return new URL(origin).origin
  throw new AppError('invalid_parameter', 'The headers do not name the host of the gateway. Set PUBLIC_URL.')
}
