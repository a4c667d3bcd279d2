import { makeClient } from '@wagate/test-kit/http-client'
import { tokenIn } from '@wagate/test-kit/mail-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Gateway } from './gateway.ts'
import { goodPassword, openBrowser, randomEmail, signUp, startSignUpGateway } from './person.ts'

let running: Awaited<ReturnType<typeof startSignUpGateway>>
let gateway: Gateway
beforeAll(async () => {
  running = await startSignUpGateway({ DEFAULT_DEVICES_ALLOWED: '3', DEFAULT_ACCOUNT_DAYS: '30' })
  gateway = running.gateway
})
afterAll(() => running.close())

const publicUrl = 'https://gateway.example.com'
const browser = () => openBrowser(gateway, publicUrl)

test('a person signs up by mail, chooses a password and gets a key that works', async () => {
  const email = randomEmail()
  const asked = await gateway.anonymous.post('/sign-up', { email: ` ${email.toUpperCase()} ` })
  expect(asked.body).toEqual({ ok: true, email, expires_in: 86_400 })
  const mail = await running.mails.mailTo(email)
  expect(mail).toMatchObject({
    from: '"Gateway" <gateway@example.com>',
    subject: 'Confirm your email address',
  })
  expect(mail.text).toContain(`${publicUrl}/sign-up#wag_mail_`)
  const { body } = await gateway.anonymous.post('/confirm-email', {
    token: tokenIn(mail),
    password: goodPassword,
  })
  expect(body).toMatchObject({ email, role: 'USER', devices_allowed: 3 })
  const days = (Date.parse(String(body.expiry)) - Date.now()) / 86_400_000
  expect(days).toBeCloseTo(30, 1)
  const { body: info } = await makeClient(gateway.url, String(body.api_key)).get('/user-info')
  expect(info).toMatchObject({ id: body.account_id, email, devices_allowed: 3 })
})

test('an address that is not confirmed has no account', async () => {
  const email = randomEmail()
  await gateway.anonymous.post('/sign-up', { email })
  await running.mails.mailTo(email)
  const tried = await browser().post('/sign-in', { email, password: goodPassword })
  expect(tried.body.code).toBe('wrong_password')
})

describe('the link of a mail', () => {
  test('works once, and with it all other links of the address', async () => {
    const email = randomEmail()
    await gateway.anonymous.post('/sign-up', { email })
    const first = tokenIn(await running.mails.mailTo(email))
    await gateway.anonymous.post('/sign-up', { email })
    const second = tokenIn(await running.mails.mailTo(email, 2))
    const confirm = (token: string) =>
      gateway.anonymous.post('/confirm-email', { token, password: goodPassword })
    expect((await confirm(first)).status).toBe(200)
    for (const token of [first, second]) expect((await confirm(token)).body.code).toBe('mail_link_invalid')
  })

  test('works once among concurrent requests', async () => {
    const email = randomEmail()
    await gateway.anonymous.post('/sign-up', { email })
    const token = tokenIn(await running.mails.mailTo(email))
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => gateway.anonymous.post('/confirm-email', { token, password: goodPassword })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410, 410])
  })

  test('is not used up by a refused password', async () => {
    const email = randomEmail()
    await gateway.anonymous.post('/sign-up', { email })
    const token = tokenIn(await running.mails.mailTo(email))
    for (const password of ['short', 'password123', email, 'x'.repeat(129)]) {
      const { body } = await gateway.anonymous.post('/confirm-email', { token, password })
      expect(body).toMatchObject({ code: 'invalid_parameter', details: [{ parameter: 'password' }] })
    }
    const without = await gateway.anonymous.post('/confirm-email', { token })
    expect(without.body.code).toBe('missing_parameter')
    const { status } = await gateway.anonymous.post('/confirm-email', { token, password: goodPassword })
    expect(status).toBe(200)
  })

  test.each(['wag_mail_x', 'x', 'a'.repeat(999), `wag_mail_${'0'.repeat(49)}`])(
    'is refused when it is not one (%#)',
    async (token) => {
      const { body } = await gateway.anonymous.post('/confirm-email', { token, password: goodPassword })
      expect(body.code).toBe('mail_link_invalid')
    },
  )

  test('is refused after it has expired', async () => {
    const email = randomEmail()
    await gateway.anonymous.post('/sign-up', { email })
    const token = tokenIn(await running.mails.mailTo(email))
    await gateway.db.$client`UPDATE mailed_links SET expires_at = now() WHERE email = ${email}`
    const { body } = await gateway.anonymous.post('/confirm-email', { token, password: goodPassword })
    expect(body.code).toBe('mail_link_invalid')
  })

  test('does only what its mail was for', async () => {
    const person = await signUp(gateway, running.mails)
    await gateway.anonymous.post('/forgot-password', { email: person.email })
    const reset = tokenIn(await running.mails.mailTo(person.email, 2))
    const confirmed = await gateway.anonymous.post('/confirm-email', { token: reset, password: goodPassword })
    expect(confirmed.body.code).toBe('mail_link_invalid')
    const asKey = await makeClient(gateway.url, reset).get('/user-info')
    expect(asKey.body.code).toBe('invalid_api_key')
  })
})

describe('an invitation', () => {
  test('gives what the ADMIN says, also when nobody may sign up by himself', async () => {
    const email = randomEmail()
    const expiry = '2040-01-01T00:00:00.000Z'
    await gateway.admin.post('/invite-user', { email, role: 'admin', devices_allowed: 7, expiry })
    const mail = await running.mails.mailTo(email)
    expect(mail.subject).toBe('You are invited to a WhatsApp gateway')
    const { body } = await gateway.anonymous.post('/confirm-email', {
      token: tokenIn(mail),
      password: goodPassword,
    })
    expect(body).toMatchObject({ email, role: 'ADMIN', devices_allowed: 7, expiry })
  })

  test('is for ADMINs, and for addresses without an account', async () => {
    const person = await signUp(gateway, running.mails)
    const asUser = await makeClient(gateway.url, person.apiKey).post('/invite-user', { email: randomEmail() })
    expect(asUser.body.code).toBe('admin_required')
    const taken = await gateway.admin.post('/invite-user', { email: person.email })
    expect(taken.body.code).toBe('email_exists')
  })
})

describe('a new email address', () => {
  test('is the one of the account once its link is used, and the old one is told', async () => {
    const person = await signUp(gateway, running.mails)
    const page = browser()
    await page.post('/sign-in', person)
    const email = randomEmail()
    await page.post('/change-email', { email, password: goodPassword })
    const mail = await running.mails.mailTo(email)
    expect((await page.get('/user-info')).body.email).toBe(person.email)
    const { body } = await gateway.anonymous.post('/confirm-email', { token: tokenIn(mail) })
    expect(body).toEqual({ ok: true, account_id: person.accountId, email })
    expect((await running.mails.mailTo(person.email, 2)).subject).toBe('Your email address has been changed')
    expect((await page.get('/user-info')).body.email).toBe(email)
  })

  test('needs the password', async () => {
    const person = await signUp(gateway, running.mails)
    const change = { email: randomEmail(), password: 'wrong horse battery' }
    const { body } = await makeClient(gateway.url, person.apiKey).post('/change-email', change)
    expect(body.code).toBe('wrong_password')
  })

  test('that another account takes meanwhile is refused', async () => {
    const person = await signUp(gateway, running.mails)
    const email = randomEmail()
    const key = makeClient(gateway.url, person.apiKey)
    await key.post('/change-email', { email, password: goodPassword })
    const token = tokenIn(await running.mails.mailTo(email))
    await gateway.admin.post('/create-user', { email, password: goodPassword })
    const { body } = await gateway.anonymous.post('/confirm-email', { token })
    expect(body.code).toBe('email_exists')
  })
})

describe('a forgotten password', () => {
  test('is replaced with a link; sessions end, keys stay, and the owner is told', async () => {
    const person = await signUp(gateway, running.mails)
    const page = browser()
    await page.post('/sign-in', person)
    await gateway.anonymous.post('/forgot-password', { email: person.email })
    const token = tokenIn(await running.mails.mailTo(person.email, 2))
    const password = 'another horse battery'
    const reset = await gateway.anonymous.post('/reset-password', { token, password })
    expect(reset.body).toEqual({ ok: true, account_id: person.accountId, email: person.email })
    expect((await running.mails.mailTo(person.email, 3)).subject).toBe('Your password has been changed')
    expect((await page.get('/user-info')).body.code).toBe('session_ended')
    expect((await page.post('/sign-in', person)).body.code).toBe('wrong_password')
    expect((await page.post('/sign-in', { email: person.email, password })).status).toBe(200)
    expect((await makeClient(gateway.url, person.apiKey).get('/user-info')).status).toBe(200)
  })

  test('has no more links after the password was changed another way', async () => {
    const person = await signUp(gateway, running.mails)
    await gateway.anonymous.post('/forgot-password', { email: person.email })
    const token = tokenIn(await running.mails.mailTo(person.email, 2))
    const change = { old_password: goodPassword, password: 'another horse battery' }
    await makeClient(gateway.url, person.apiKey).post('/change-password', change)
    const { body } = await gateway.anonymous.post('/reset-password', { token, password: goodPassword })
    expect(body.code).toBe('mail_link_invalid')
  })
})

test.each(['sign-up', 'confirm-email', 'sign-in', 'forgot-password', 'reset-password'])(
  '%s takes no parameters from the URL',
  async (name) => {
    const { body } = await gateway.anonymous.request(`/${name}?email=a@example.com&token=x`, {
      method: 'POST',
    })
    expect(body.code).toBe('invalid_parameter')
  },
)

test('the owner of an account that will be deleted is told', async () => {
  const person = await signUp(gateway, running.mails)
  await makeClient(gateway.url, person.apiKey).post('/delete-account', { password: goodPassword })
  const mail = await running.mails.mailTo(person.email, 2)
  expect(mail.subject).toBe('Your account will be deleted')
  const refused = await browser().post('/sign-in', person)
  expect(refused.body.code).toBe('account_disabled')
})
