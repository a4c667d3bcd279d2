import { randomUUID } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { tokenIn } from '@wagate/test-kit/mail-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPassword } from '../src/credentials/passwords.ts'
import type { Gateway } from './gateway.ts'
import { goodPassword, makeNetworks, openBrowser, randomEmail, signUp, startSignUpGateway } from './person.ts'

let running: Awaited<ReturnType<typeof startSignUpGateway>>
let gateway: Gateway
beforeAll(async () => {
  running = await startSignUpGateway({
    TRUST_PROXY: '1',
    LIMIT_MAILS_PER_HOUR: '8',
    LIMIT_SIGN_INS_PER_MINUTE: '20',
  })
  gateway = running.gateway
})
afterAll(() => running.close())

/** Each test comes from networks of its own. */
const newNetwork = makeNetworks('10.9')
const post = (path: string, body: unknown, headers = newNetwork()) =>
  gateway.anonymous.post(path, body, headers)

const person = () => signUpFrom(newNetwork())
const signUpFrom = (from: Record<string, string>) => signUp(gateway, running.mails, { from })

describe('whether an address has an account', () => {
  test.each(['sign-up', 'forgot-password'])('does not show in the answers of %s', async (path) => {
    const known = (await person()).email
    const unknown = randomEmail()
    const answers = [await post(`/${path}`, { email: known }), await post(`/${path}`, { email: unknown })]
    const [a, b] = answers.map(({ status, headers, body }) => ({
      status,
      names: [...headers.keys()].sort(),
      body: { ...body, email: '' },
    }))
    expect(a).toEqual(b)
  })

  test('does not show in the time of an answer, which waits for no look-up', async () => {
    // All look-ups of accounts are held here, and the answers come nevertheless.
    const known = (await person()).email
    const release = await lockAccounts()
    const answered = Promise.all(
      ['/sign-up', '/forgot-password'].flatMap((path) =>
        [known, randomEmail()].map(async (email) => (await post(path, { email })).status),
      ),
    )
    expect(await answered).toEqual([200, 200, 200, 200])
    await release()
  })

  test('is mailed to its owner, who is told to sign in', async () => {
    const { email } = await person()
    await post('/sign-up', { email })
    const mail = await running.mails.mailTo(email, 2)
    expect(mail.subject).toBe('You already have an account')
    expect(mail.text).not.toContain('wag_mail_')
  })

  test('decides whether forgot-password sends a mail', async () => {
    const [email, later] = [randomEmail(), await person()]
    await post('/forgot-password', { email })
    // Mails leave in the order of their requests, as long as there are few.
    await post('/forgot-password', { email: later.email })
    await running.mails.mailTo(later.email, 2)
    expect(running.mails.mails.filter(({ to }) => to.includes(email))).toEqual([])
  })
})

/** Statements on accounts wait until it is released. */
async function lockAccounts(): Promise<() => Promise<void>> {
  const connection = await gateway.db.$client.reserve()
  await connection`BEGIN`
  await connection`LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE`
  return async () => {
    await connection`COMMIT`
    connection.release()
  }
}

describe('mails are bounded', () => {
  test('by the network that asks for them, whatever the addresses', async () => {
    const headers = newNetwork()
    const answers = []
    for (let asked = 0; asked < 9; asked += 1) {
      answers.push(await post('/sign-up', { email: randomEmail() }, headers))
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(8).fill(200), 429])
    expect(answers.at(-1)?.body).toMatchObject({ code: 'rate_limited', limit: 'mails' })
  })

  test('by the address, whatever the networks and whether it has an account', async () => {
    for (const email of [randomEmail(), (await person()).email]) {
      for (const path of ['/sign-up', '/forgot-password']) {
        const statuses = []
        for (let asked = 0; asked < 5; asked += 1) statuses.push((await post(path, { email })).status)
        expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4)
        const { status, body } = await post(path, { email: email.toUpperCase() })
        expect([status, body.limit]).toEqual([429, 'mails-to-address'])
      }
    }
  })

  test('by the account that asks for a new address', async () => {
    const who = await person()
    const limits = []
    for (let asked = 0; asked < 21; asked += 1) {
      const { body } = await gateway.anonymous.post(
        '/change-email',
        { email: randomEmail(), password: goodPassword },
        { ...newNetwork(), 'x-api-key': who.apiKey },
      )
      limits.push(body.limit)
    }
    expect(limits.slice(0, 20)).toEqual(Array(20).fill(undefined))
    expect(limits[20]).toBe('account-mails')
  })
})

describe('guessing a password is bounded', () => {
  const guess = (email: string, headers?: Record<string, string>) =>
    post('/sign-in', { email, password: `guess ${randomUUID()}` }, headers as never)

  test('by the network, for any addresses', async () => {
    const headers = newNetwork()
    const limits = []
    for (let tried = 0; tried < 21; tried += 1) {
      limits.push((await guess(randomEmail(), headers)).body.limit)
    }
    expect(limits.at(-1)).toBe('sign-in')
  })

  test('by address and network, and other networks can still sign in', async () => {
    const who = await person()
    const headers = newNetwork()
    for (let tried = 0; tried < 10; tried += 1) await guess(who.email, headers)
    expect((await guess(who.email, headers)).body.limit).toBe('sign-in-address')
    const refused = await post('/sign-in', who, headers)
    expect(refused.body.limit).toBe('sign-in-address')
    expect((await post('/sign-in', who)).status).toBe(200)
  })

  test('by address, from any networks', async () => {
    const who = await person()
    const limits = new Set()
    for (let tried = 0; tried < 102; tried += 1) limits.add((await guess(who.email)).body.limit)
    expect([...limits]).toEqual([undefined, 'sign-in-account'])
  }, 60_000)

  test('also with a stolen key', async () => {
    const who = await person()
    const headers = { ...newNetwork(), 'x-api-key': who.apiKey }
    const limits = []
    for (let tried = 0; tried < 11; tried += 1) {
      const change = { old_password: `guess ${tried} it`, password: goodPassword }
      limits.push((await gateway.anonymous.post('/change-password', change, headers)).body.limit)
    }
    expect(limits.at(-1)).toBe('sign-in-address')
  })

  test('by what an API process computes at the same time', async () => {
    const computed = await Promise.allSettled(Array.from({ length: 205 }, () => hashPassword('guess')))
    const refused = computed.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(refused).toHaveLength(5)
    expect(refused[0]).toMatchObject({ code: 'rate_limited', limit: 'password-checks' })
    expect(await hashPassword('guess')).toMatch(/^\$argon2id/)
  })
})

describe('a mail contains', () => {
  test('nothing of the host that a request names', async () => {
    const email = randomEmail()
    await postWithHost('evil.example', '/sign-up', { email })
    const { text } = await running.mails.mailTo(email)
    expect(text).toContain('https://gateway.example.com/sign-up#')
    expect(text).not.toContain('evil')
  })

  test.each([
    'a@example.com\nBcc: b@example.com',
    'a@example.com\r\nSubject: x',
    'a@example.com, b@example.com',
    '"a@example.com>, b"@example.com',
    '<a@example.com>',
    'Buy now https://spam.example <a@example.com>',
    `${'a'.repeat(250)}@example.com`,
    'a@exam\u0000ple.com',
    'a@localhost',
    { address: 'a@example.com' },
    ['a@example.com'],
    '',
  ])('no other recipient, header or text of whoever asks for it: %j', async (email) => {
    const { body } = await post('/sign-up', { email })
    expect(body).toMatchObject({ ok: false, details: [{ parameter: 'email' }] })
  })

  test('only our text, and goes to the address alone', async () => {
    const email = `buy.cheap-pills+https@example.com`
    await post('/sign-up', { email })
    const mail = await running.mails.mailTo(email)
    expect(mail.to).toEqual([email])
    expect(mail.subject + mail.text).not.toContain('pills')
  })
})

/** `fetch` sets Host itself. */
function postWithHost(host: string, path: string, body: unknown): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json', ...newNetwork() }
    const sent = httpRequest(`${gateway.url}${path}`, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sent.on('error', reject).end(JSON.stringify(body))
  })
}

test('only the owner of an address chooses the password of its account, whoever asked for it', async () => {
  const email = randomEmail()
  const victim = openBrowser(gateway, 'https://gateway.example.com')
  // Whoever asks has no say in the password, so that nobody can wait in an account for its owner.
  await post('/sign-up', { email, password: 'known to the attacker' })
  const token = tokenIn(await running.mails.mailTo(email))
  await victim.post('/confirm-email', { token, password: goodPassword })
  const tried = await post('/sign-in', { email, password: 'known to the attacker' })
  expect(tried.body.code).toBe('wrong_password')
})

test('a page of the gateway cannot be shown in a frame of another site', async () => {
  const response = await fetch(`${gateway.url}/link`)
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
})
