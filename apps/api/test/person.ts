import { randomUUID } from 'node:crypto'
import type { Answer, Client } from '@wagate/test-kit/http-client'
import { type MailServer, startMailServer, tokenIn } from '@wagate/test-kit/mail-server'
import { type Gateway, startGateway } from './gateway.ts'

/** An API on which people sign up, and the server that gets its mails. */
export async function startSignUpGateway(
  env: Record<string, string> = {},
): Promise<{ gateway: Gateway; mails: MailServer; close(): Promise<void> }> {
  const mails = await startMailServer()
  const settings = { SIGN_UP: 'open', SMTP_URL: mails.url, MAIL_FROM: 'Gateway <gateway@example.com>' }
  const gateway = await startGateway({ ...settings, ...env })
  return {
    gateway,
    mails,
    async close() {
      await gateway.close()
      await mails.close()
    },
  }
}

export const goodPassword = 'correct horse battery'

export const randomEmail = () => `${randomUUID()}@example.com`

/** Headers of clients in networks of their own, for tests of limits. `prefix`: two numbers that no other file uses. */
export function makeNetworks(prefix: string): () => Record<string, string> {
  let networks = 0
  return () => {
    networks += 1
    return { 'x-forwarded-for': `${prefix}.${networks >> 8}.${networks & 255}` }
  }
}

/** Signs up and confirms. `from`: headers of both requests. */
export async function signUp(
  { anonymous }: Gateway,
  mails: MailServer,
  { email = randomEmail(), password = goodPassword, from = {} as Record<string, string> } = {},
) {
  await anonymous.post('/sign-up', { email }, from)
  const token = tokenIn(await mails.mailTo(email))
  const { body } = await anonymous.post('/confirm-email', { token, password }, from)
  return { email, password, accountId: Number(body.account_id), apiKey: String(body.api_key), answer: body }
}

/** What a browser with a page of the gateway does: it keeps the cookie, and names where its requests come from. */
export type Browser = {
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  get(path: string): Promise<Answer>
  cookie(): string
  setCookie(header: string): void
}

export function openBrowser({ anonymous, url }: { anonymous: Client; url: string }, origin = url): Browser {
  let cookie = ''
  const own = () => ({ 'x-wagate-page': '1', origin, ...(cookie && { cookie }) })
  const keep = (answer: Answer) => {
    const set = answer.headers.get('set-cookie')
    if (set) cookie = /Max-Age=0/.test(set) ? '' : (set.split(';')[0] ?? '')
    return answer
  }
  return {
    async post(path, body, headers = {}) {
      return keep(await anonymous.post(path, body, { ...own(), ...headers }))
    },
    async get(path) {
      return keep(await anonymous.get(path, {}, own()))
    },
    cookie: () => cookie,
    setCookie: (header) => {
      cookie = header
    },
  }
}
