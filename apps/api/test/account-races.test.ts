import { makeClient } from '@wagate/test-kit/http-client'
import { tokenIn } from '@wagate/test-kit/mail-server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { atOnce } from './at-once.ts'
import type { Gateway } from './gateway.ts'
import { goodPassword, openBrowser, randomEmail, signUp, startSignUpGateway } from './person.ts'

let running: Awaited<ReturnType<typeof startSignUpGateway>>
let gateway: Gateway
beforeAll(async () => {
  running = await startSignUpGateway()
  gateway = running.gateway
})
afterAll(() => running.close())

const otherPassword = 'another horse battery'
const post = (path: string, body: unknown) => gateway.anonymous.post(path, body)
const person = () => signUp(gateway, running.mails)
const codesOf = (answers: { status: number; body: Record<string, unknown> }[]) =>
  answers.map(({ status, body }) => body.code ?? status).sort()
const browser = () => openBrowser(gateway, 'https://gateway.example.com')

/** Asks for a mail, and returns the secret of its link. */
async function tokenFor(email: string, ask: () => Promise<unknown>): Promise<string> {
  const before = running.mails.mails.filter(({ to }) => to.includes(email)).length
  await ask()
  return tokenIn(await running.mails.mailTo(email, before + 1))
}

const resetToken = (email: string) => tokenFor(email, () => post('/forgot-password', { email }))

/** A request waits for a row. */
async function isHeld(): Promise<void> {
  await vi.waitFor(
    async () => {
      const blocked = await gateway.db.$client`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      expect(blocked.length).toBeGreaterThan(0)
    },
    { timeout: 2500, interval: 5 },
  )
}

describe('one address, taken at the same moment', () => {
  test('by two accounts that have asked for it', async () => {
    const [a, b, email] = [await person(), await person(), randomEmail()]
    const tokens: string[] = []
    for (const { apiKey, password } of [a, b]) {
      const ask = () => makeClient(gateway.url, apiKey).post('/change-email', { email, password })
      tokens.push(await tokenFor(email, ask))
    }
    const hold = `SELECT FROM accounts WHERE id IN (${a.accountId}, ${b.accountId})`
    const answers = await atOnce(gateway, { hold, waiting: 2 }, () =>
      Promise.all(tokens.map((token) => post('/confirm-email', { token }))),
    )
    expect(codesOf(answers)).toEqual([200, 'email_exists'])
  })

  test('by two links for it', async () => {
    const email = randomEmail()
    const tokens = [
      await tokenFor(email, () => post('/sign-up', { email })),
      await tokenFor(email, () => gateway.admin.post('/invite-user', { email })),
    ]
    const hold = `SELECT FROM mailed_links WHERE email = '${email}'`
    const answers = await atOnce(gateway, { hold, waiting: 2 }, () =>
      Promise.all(tokens.map((token) => post('/confirm-email', { token, password: goodPassword }))),
    )
    expect(codesOf(answers)).toEqual([200, 'mail_link_invalid'])
  })

  test('by a link, by an ADMIN and by an account', async () => {
    const [email, changing] = [randomEmail(), await person()]
    const signUpToken = await tokenFor(email, () => post('/sign-up', { email }))
    const key = makeClient(gateway.url, changing.apiKey)
    const token = await tokenFor(email, () => key.post('/change-email', { email, password: goodPassword }))
    const hold = `SELECT FROM accounts WHERE id = ${changing.accountId}`
    const answers = await atOnce(gateway, { hold, waiting: 1 }, () =>
      Promise.all([
        post('/confirm-email', { token }),
        post('/confirm-email', { token: signUpToken, password: goodPassword }),
        gateway.admin.post('/create-user', { email, password: goodPassword }),
      ]),
    )
    expect(codesOf(answers)).toEqual([200, 'email_exists', 'email_exists'])
  })
})

describe('one account, changed at the same moment', () => {
  test('by two links for a new password', async () => {
    const { email } = await person()
    const tokens = [await resetToken(email), await resetToken(email)]
    const hold = `SELECT FROM mailed_links WHERE email = '${email}'`
    const answers = await atOnce(gateway, { hold, waiting: 2 }, () =>
      Promise.all(tokens.map((token) => post('/reset-password', { token, password: otherPassword }))),
    )
    expect(codesOf(answers)).toEqual([200, 'mail_link_invalid'])
  })

  test('by a link and by change-password', async () => {
    const { email, accountId, apiKey } = await person()
    const token = await resetToken(email)
    const change = { old_password: goodPassword, password: 'yet another battery' }
    const hold = `SELECT FROM accounts WHERE id = ${accountId}`
    const answers = await atOnce(gateway, { hold, waiting: 2 }, () =>
      Promise.all([
        post('/reset-password', { token, password: otherPassword }),
        makeClient(gateway.url, apiKey).post('/change-password', change),
      ]),
    )
    const [won, lost] = codesOf(answers)
    expect(won).toBe(200)
    expect(['mail_link_invalid', 'wrong_password']).toContain(lost)
  })
})

describe('whoever knows the old password, and uses it while a new one is chosen', () => {
  /** `use` has compared the old password when the new one is stored. */
  async function whileReset(
    who: Awaited<ReturnType<typeof person>>,
    use: () => Promise<{ status: number; body: Record<string, unknown> }>,
  ) {
    const token = await resetToken(who.email)
    const hold = `SELECT FROM accounts WHERE id = ${who.accountId}`
    return atOnce(gateway, { hold, waiting: 2 }, async () => {
      const resetting = post('/reset-password', { token, password: otherPassword })
      await isHeld()
      const using = use()
      expect((await resetting).status).toBe(200)
      return using
    })
  }

  test('gets no session', async () => {
    const who = await person()
    const page = browser()
    const { body } = await whileReset(who, () => page.post('/sign-in', who))
    expect(body.code).toBe('wrong_password')
    expect((await page.get('/user-info')).body.code).toBe('missing_api_key')
  })

  test('does not choose another one', async () => {
    const who = await person()
    const change = { old_password: goodPassword, password: 'of the attacker' }
    const key = makeClient(gateway.url, who.apiKey)
    const { body } = await whileReset(who, () => key.post('/change-password', change))
    expect(body.code).toBe('wrong_password')
    const signedIn = await browser().post('/sign-in', { email: who.email, password: otherPassword })
    expect(signedIn.status).toBe(200)
  })

  test('does not delete the account', async () => {
    const who = await person()
    const key = makeClient(gateway.url, who.apiKey)
    const { body } = await whileReset(who, () => key.post('/delete-account', { password: goodPassword }))
    expect(body.code).toBe('wrong_password')
    expect((await key.get('/user-info')).status).toBe(200)
  })
})

test('a browser that signs in while the account is disabled gets no session', async () => {
  const who = await person()
  const page = browser()
  const connection = await gateway.db.$client.reserve()
  await connection`BEGIN`
  await connection`UPDATE accounts SET disabled_at = now() WHERE id = ${who.accountId}`
  const signingIn = page.post('/sign-in', who)
  await isHeld()
  await connection`COMMIT`
  connection.release()
  expect((await signingIn).body.code).toBe('account_disabled')
})

describe('after a change of the email address', () => {
  test('a link that was mailed to the former one changes no password', async () => {
    const who = await person()
    const token = await resetToken(who.email)
    const email = randomEmail()
    const ask = () =>
      makeClient(gateway.url, who.apiKey).post('/change-email', { email, password: goodPassword })
    const confirming = await tokenFor(email, ask)
    expect((await post('/confirm-email', { token: confirming })).status).toBe(200)
    const { body } = await post('/reset-password', { token, password: otherPassword })
    expect(body.code).toBe('mail_link_invalid')
  })

  test('also one that is stored only afterwards', async () => {
    const who = await person()
    const token = await resetToken(who.email)
    await gateway.db.$client`UPDATE accounts SET email = ${randomEmail()} WHERE id = ${who.accountId}`
    const { body } = await post('/reset-password', { token, password: otherPassword })
    expect(body.code).toBe('mail_link_invalid')
  })
})
