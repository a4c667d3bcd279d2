import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { type Gateway, startReplica } from './gateway.ts'
import { randomEmail, signUp, startSignUpGateway } from './person.ts'

let running: Awaited<ReturnType<typeof startSignUpGateway>>
let gateway: Gateway
beforeAll(async () => {
  running = await startSignUpGateway()
  gateway = running.gateway
})
afterAll(() => running.close())

const urls = { DATABASE_URL: 'postgres://x@127.0.0.1/x', REDIS_URL: 'redis://127.0.0.1' }
const live = { ...urls, WHATSAPP_NETWORK: 'live' }
const full = {
  SMTP_URL: 'smtp://127.0.0.1',
  MAIL_FROM: 'a@example.com',
  PUBLIC_URL: 'https://x.example.com',
}

test.each([
  [live, 'off'],
  [{ ...live, ...full }, 'off'],
  [{ ...live, ...full, SIGN_UP: 'invite' }, 'invite'],
  [{ ...urls, WHATSAPP_NETWORK: 'simulator' }, 'off'],
  [{ ...urls, WHATSAPP_NETWORK: 'simulator', SMTP_URL: 'smtp://127.0.0.1' }, 'open'],
])('with %j lets people sign up: %s', (env, mode) => {
  expect(readConfig(env).signUp.mode).toBe(mode)
})

test('says that a password in SMTP_URL is percent-encoded', () => {
  expect(() => readConfig({ ...live, ...full, SMTP_URL: 'smtp://user:p@ss@mail.example.com' })).toThrow(
    'SMTP_URL: must have no path and no query, and a password in it must be percent-encoded',
  )
})

test('names every setting that sign-up lacks', () => {
  expect(() => readConfig({ ...live, SIGN_UP: 'open' })).toThrow(
    /The configuration is not usable:\n.*SMTP_URL: is required.*\n.*MAIL_FROM: is required.*\n.*PUBLIC_URL: is required/,
  )
})

test.each([
  ['SMTP_URL', 'http://mail.example.com'],
  ['SMTP_URL', 'smtp://mail.example.com/path'],
  ['MAIL_FROM', 'no address'],
  ['MAIL_FROM', 'a@example.com\nBcc: b@example.com'],
  ['SIGN_UP', 'yes'],
])('does not start with %s=%s', (name, value) => {
  expect(() => readConfig({ ...live, ...full, [name]: value })).toThrow(`${name}: must`)
})

test('that admits only invited people refuses others, and one without sign-up everybody', async () => {
  const closed = await startReplica(gateway)
  const invited = await startReplica(gateway, {
    SIGN_UP: 'invite',
    SMTP_URL: running.mails.url,
    MAIL_FROM: 'a@example.com',
  })
  try {
    const person = await signUp(gateway, running.mails)
    const ask = (api: { url: string }, path: string, body: unknown) => makeClient(api.url).post(path, body)
    expect((await ask(invited, '/sign-up', { email: randomEmail() })).body.code).toBe('sign_up_closed')
    expect((await ask(invited, '/sign-in', person)).status).toBe(200)
    expect((await ask(closed, '/sign-up', { email: randomEmail() })).body.code).toBe('sign_up_closed')
    expect((await ask(closed, '/sign-in', person)).body.code).toBe('sign_up_closed')
  } finally {
    await closed.close()
    await invited.close()
  }
})
