import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Gateway } from './gateway.ts'
import { goodPassword, openBrowser, randomEmail, signUp, startSignUpGateway } from './person.ts'

let running: Awaited<ReturnType<typeof startSignUpGateway>>
let gateway: Gateway
beforeAll(async () => {
  running = await startSignUpGateway()
  gateway = running.gateway
})
afterAll(() => running.close())

const ours = 'https://gateway.example.com'
const person = () => signUp(gateway, running.mails)

async function signedIn(who: Awaited<ReturnType<typeof person>>) {
  const page = openBrowser(gateway, ours)
  const { body } = await page.post('/sign-in', who)
  return { ...page, sessionId: Number(body.session_id) }
}

test('the cookie is kept from scripts, other sites and plain HTTP, and from nothing but this host', async () => {
  const { headers } = await openBrowser(gateway, ours).post('/sign-in', await person())
  expect(headers.get('set-cookie')).toMatch(
    /^__Host-wagate_session=wag_web_\w{49}; Max-Age=1209600; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
})

test('a session opens the same operations as a key of the account', async () => {
  const who = await person()
  const page = await signedIn(who)
  const { body: created } = await page.post('/create-device', { sender: '15550100009', name: 'Shop' })
  expect(created.ok).toBe(true)
  const { body } = await makeClient(gateway.url, who.apiKey).get('/devices')
  expect(body.devices).toHaveLength(1)
  const { body: key } = await page.post('/create-key', { name: 'From the page' })
  expect((await makeClient(gateway.url, String(key.api_key)).get('/user-info')).status).toBe(200)
  expect((await page.get('/users')).body.code).toBe('admin_required')
})

test('a session exports the account to the end', async () => {
  const page = await signedIn(await person())
  const headers = { cookie: page.cookie(), 'x-wagate-page': '1' }
  const text = await (await fetch(`${gateway.url}/export-account`, { headers })).text()
  expect(JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ type: 'end' })
})

test('a key that a person creates outlives the session', async () => {
  const page = await signedIn(await person())
  const { body } = await page.post('/create-key', { name: 'Shop' })
  expect(body).toMatchObject({ ok: true, expires_at: null })
  const later = new Date(Date.now() + 90 * 86_400_000).toISOString()
  expect((await page.post('/create-key', { expiry: later })).body.expires_at).toBe(later)
})

test('keys do not list sessions, and cannot revoke them', async () => {
  const page = await signedIn(await person())
  const { body } = await page.get('/keys')
  expect(body.keys).toHaveLength(1)
  const revoked = await page.post('/revoke-key', { key_id: page.sessionId })
  expect(revoked.body.code).toBe('key_not_found')
  const only = (body.keys as { key_id: number }[])[0]?.key_id
  expect((await page.post('/revoke-key', { key_id: only })).body.code).toBe('last_key')
})

describe('another site', () => {
  test.each([
    ['another origin', { origin: 'https://evil.example' }],
    ['an origin that hides', { origin: 'null' }],
    ['another port', { origin: `${ours}:8443` }],
    ['a subdomain', { 'sec-fetch-site': 'same-site' }],
    ['another site without an origin', { 'sec-fetch-site': 'cross-site' }],
  ])('cannot use the session of a browser: %s', async (_, headers) => {
    const page = await signedIn(await person())
    const { status, body } = await page.post('/create-key', {}, headers)
    expect([status, body.code]).toEqual([403, 'origin_refused'])
  })

  test('cannot use it with a form or a link, which have no header of ours', async () => {
    const page = await signedIn(await person())
    const headers = { cookie: page.cookie() }
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
    const posted = await gateway.anonymous.request('/create-key', {
      method: 'POST',
      headers: form,
      body: 'name=x',
    })
    expect([posted.status, posted.body.code]).toEqual([401, 'missing_api_key'])
    const opened = await gateway.anonymous.get('/create-key', {}, headers)
    expect([opened.status, opened.body.code]).toEqual([401, 'missing_api_key'])
  })

  test('cannot sign its visitor in', async () => {
    const who = await person()
    const { status, body, headers } = await openBrowser(gateway, 'https://evil.example').post('/sign-in', who)
    expect([status, body.code, headers.get('set-cookie')]).toEqual([403, 'origin_refused', null])
  })

  test('is allowed no request by a preflight', async () => {
    const { headers } = await gateway.anonymous.request('/create-key', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-headers': 'x-wagate-page' },
    })
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

test.each(['header', 'bearer', 'query', 'body'])(
  'the secret of a session is no API key (%s)',
  async (place) => {
    const page = await signedIn(await person())
    const secret = page.cookie().split('=')[1] ?? ''
    const { anonymous } = gateway
    const tried = {
      header: () => anonymous.get('/user-info', {}, { 'x-api-key': secret }),
      bearer: () => anonymous.get('/user-info', {}, { authorization: `Bearer ${secret}` }),
      query: () => anonymous.get('/user-info', { api_key: secret }),
      body: () => anonymous.post('/user-info', { api_key: secret }),
    }
    expect((await tried[place as keyof typeof tried]()).body.code).toBe('invalid_api_key')
  },
)

test('an API key in the cookie is no session', async () => {
  const who = await person()
  const page = openBrowser(gateway, ours)
  page.setCookie(`__Host-wagate_session=${who.apiKey}`)
  expect((await page.get('/user-info')).body.code).toBe('missing_api_key')
})

describe('a session ends', () => {
  test('when it is signed out, at once and for everybody who has its cookie', async () => {
    const page = await signedIn(await person())
    const thief = openBrowser(gateway, ours)
    thief.setCookie(page.cookie())
    expect((await thief.get('/user-info')).status).toBe(200)
    const { headers } = await page.post('/sign-out')
    expect(headers.get('set-cookie')).toMatch(/^__Host-wagate_session=; Max-Age=0;/)
    expect((await thief.get('/user-info')).body.code).toBe('session_ended')
  })

  test('when the browser signs in again, so that nobody can prepare one for it', async () => {
    const attacker = await signedIn(await person())
    const page = openBrowser(gateway, ours)
    page.setCookie(attacker.cookie())
    await page.post('/sign-in', await person())
    expect(page.cookie()).not.toBe(attacker.cookie())
    expect((await attacker.get('/user-info')).body.code).toBe('session_ended')
  })

  test('when another browser of the account ends it, or all others', async () => {
    const who = await person()
    const [first, second, third] = [await signedIn(who), await signedIn(who), await signedIn(who)]
    const { body } = await first.get('/sessions')
    expect(body.sessions).toHaveLength(3)
    expect(await first.post('/end-session', { session_id: second.sessionId })).toMatchObject({
      body: { ended: 1 },
    })
    expect((await second.get('/user-info')).body.code).toBe('session_ended')
    expect(await first.post('/end-session', { all: true })).toMatchObject({ body: { ended: 1 } })
    expect((await third.get('/user-info')).body.code).toBe('session_ended')
    expect((await first.get('/user-info')).status).toBe(200)
  })

  test('when the password changes, except for a new one of the browser that changes it', async () => {
    const who = await person()
    const [page, other] = [await signedIn(who), await signedIn(who)]
    const before = page.cookie()
    const change = { old_password: goodPassword, password: 'another horse battery' }
    expect((await page.post('/change-password', change)).body.sessions_ended).toBe(2)
    expect(page.cookie()).not.toBe(before)
    expect((await page.get('/user-info')).status).toBe(200)
    expect((await other.get('/user-info')).body.code).toBe('session_ended')
  })

  test.each([
    ['after a day without a request', `last_used_at = now() - interval '24 hours'`],
    ['two weeks after the sign-in', `expires_at = now()`],
  ])('%s', async (_, change) => {
    const page = await signedIn(await person())
    await gateway.db.$client.unsafe(`UPDATE api_keys SET ${change} WHERE id = ${page.sessionId}`)
    await gateway.admin.post('/update-user', { user_id: await accountOf(page.sessionId), devices_allowed: 5 })
    const { status } = await page.get('/user-info')
    expect(status).toBe(401)
  })

  test('when 20 newer ones are open', async () => {
    const who = await person()
    const oldest = await signedIn(who)
    for (let opened = 0; opened < 20; opened += 1) await signedIn(who)
    expect((await oldest.get('/user-info')).body.code).toBe('session_ended')
  })
})

async function accountOf(keyId: number): Promise<number> {
  const [row] = await gateway.db.$client`SELECT account_id AS id FROM api_keys WHERE id = ${keyId}`
  return Number(row?.id)
}

test('a session of another account looks like one that does not exist', async () => {
  const [page, other] = [await signedIn(await person()), await signedIn(await person())]
  const foreign = await page.post('/end-session', { session_id: other.sessionId })
  const unknown = await page.post('/end-session', { session_id: 2_000_000_000 })
  expect(unknown.body.code).toBe('session_not_found')
  expect(foreign.body).toEqual({ ...unknown.body, request_id: foreign.body.request_id })
  expect((await other.get('/user-info')).status).toBe(200)
})

test('an expired account can still sign out, end sessions and change its password', async () => {
  const who = await person()
  const [page, other] = [await signedIn(who), await signedIn(who)]
  await gateway.admin.post('/update-user', { user_id: who.accountId, expiry: '2020-01-01T00:00:00Z' })
  expect((await page.post('/create-key')).body.code).toBe('account_expired')
  expect((await page.post('/end-session', { session_id: other.sessionId })).status).toBe(200)
  const change = { old_password: goodPassword, password: 'another horse battery' }
  expect((await page.post('/change-password', change)).status).toBe(200)
  expect((await page.post('/sign-out')).status).toBe(200)
})

test('stored is a hash, from which nobody makes the cookie', async () => {
  const page = await signedIn(await person())
  const rows = await gateway.db.$client`
    SELECT api_keys::text || sessions::text AS row FROM api_keys JOIN sessions ON key_id = id WHERE id = ${page.sessionId}`
  expect(rows).toHaveLength(1)
  expect(rows[0]?.row).not.toContain(page.cookie().split('=')[1]?.slice(8, 40))
})

test('an unknown address and a wrong password get the same answer', async () => {
  const who = await person()
  const page = openBrowser(gateway, ours)
  const wrong = await page.post('/sign-in', { email: who.email, password: 'wrong horse battery' })
  const unknown = await page.post('/sign-in', { email: randomEmail(), password: 'wrong horse battery' })
  expect(wrong.status).toBe(403)
  expect(wrong.body).toEqual({ ...unknown.body, request_id: wrong.body.request_id })
})
