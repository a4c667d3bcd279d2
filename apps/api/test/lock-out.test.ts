import { randomUUID } from 'node:crypto'
import { tokenIn } from '@wagate/test-kit/mail-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Gateway } from './gateway.ts'
import { goodPassword, makeNetworks, openBrowser, randomEmail, signUp, startSignUpGateway } from './person.ts'

let running: Awaited<ReturnType<typeof startSignUpGateway>>
let gateway: Gateway
beforeAll(async () => {
  running = await startSignUpGateway({
    TRUST_PROXY: '1',
    LIMIT_MAILS_PER_HOUR: '20',
    LIMIT_SIGN_INS_PER_MINUTE: '20',
  })
  gateway = running.gateway
})
afterAll(() => running.close())

const newNetwork = makeNetworks('10.8')
const post = (path: string, body: unknown, headers = newNetwork()) =>
  gateway.anonymous.post(path, body, headers)
const browser = () => openBrowser(gateway, 'https://gateway.example.com')
const mailsTo = (email: string) => running.mails.mails.filter(({ to }) => to.includes(email))

/** Signs up, by default from a new network. */
async function person(from = newNetwork()) {
  const { email, password } = await signUp(gateway, running.mails, { from })
  return { email, password }
}

/** Many networks use up all passwords that anybody may try for the address. Few at a time: each costs processor time. */
async function attack(email: string): Promise<void> {
  const guess = async () => (await post('/sign-in', { email, password: `guess ${randomUUID()}` })).body.code
  const codes: unknown[] = []
  while (codes.length < 110) codes.push(...(await Promise.all(Array.from({ length: 5 }, guess))))
  expect(new Set(codes)).toEqual(new Set(['wrong_password', 'rate_limited']))
}

describe('whoever knows only the address of an account', () => {
  test('keeps nobody out of it who has signed in from the same network before', async () => {
    const [who, home] = [await person(), newNetwork()]
    expect((await browser().post('/sign-in', who, home)).status).toBe(200)
    await attack(who.email)
    expect((await browser().post('/sign-in', who, home)).status).toBe(200)
  })

  test('does not have a right guess accepted after too many wrong ones', async () => {
    const who = await person()
    await attack(who.email)
    expect((await post('/sign-in', who)).body.limit).toBe('sign-in-account')
  })

  test('does not learn from the network of its owner that there is one', async () => {
    const [who, home] = [await person(), newNetwork()]
    await browser().post('/sign-in', who, home)
    for (const email of [who.email, randomEmail()]) {
      await attack(email)
      const { body } = await post('/sign-in', { email, password: 'a wrong guess' }, home)
      expect(body.limit).toBe('sign-in-account')
    }
  })

  test('keeps nobody out of it who chooses a password with a mail', async () => {
    const { email } = await person()
    await attack(email)
    const [network, page, password] = [newNetwork(), browser(), 'another horse battery']
    await post('/forgot-password', { email }, network)
    const token = tokenIn(await running.mails.mailTo(email, 2))
    await page.post('/reset-password', { token, password }, network)
    expect((await page.get('/sessions')).body.sessions).toHaveLength(1)
    expect((await page.post('/sign-in', { email, password }, network)).status).toBe(200)
  })

  test('keeps nobody from making it', async () => {
    const [email, network, page] = [randomEmail(), newNetwork(), browser()]
    await attack(email)
    await post('/sign-up', { email }, network)
    const token = tokenIn(await running.mails.mailTo(email))
    await page.post('/confirm-email', { token, password: goodPassword }, network)
    const signedIn = await page.post('/sign-in', { email, password: goodPassword }, network)
    expect(signedIn.status).toBe(200)
  })

  test('keeps no mail for a new password back with mails of other kinds', async () => {
    const { email } = await person()
    for (let asked = 0; asked < 6; asked += 1) await post('/sign-up', { email })
    const before = mailsTo(email).length
    expect((await post('/forgot-password', { email })).status).toBe(200)
    expect((await running.mails.mailTo(email, before + 1)).text).toContain('wag_mail_')
  })

  test('keeps no sign-up back by asking for a new password', async () => {
    const email = randomEmail()
    for (let asked = 0; asked < 6; asked += 1) await post('/forgot-password', { email })
    expect((await post('/sign-up', { email })).status).toBe(200)
  })
})

test('a program that chooses a password with a link gets no cookie', async () => {
  const { email } = await person()
  await post('/forgot-password', { email })
  const token = tokenIn(await running.mails.mailTo(email, 2))
  const { headers } = await post('/reset-password', { token, password: 'another horse battery' })
  expect(headers.get('set-cookie')).toBeNull()
})

test('the other addresses of one mailbox share its mails', async () => {
  const name = randomUUID()
  const statuses = []
  for (let asked = 0; asked < 12; asked += 1) {
    statuses.push((await post('/sign-up', { email: `${name}+${asked}@example.com` })).status)
  }
  expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
})
