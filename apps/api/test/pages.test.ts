import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@wagate/local-servers/free-port'
import { startMailServer } from '@wagate/test-kit/mail-server'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeApiKey } from '../src/credentials/api-key.ts'
import { type Gateway, startGateway, startReplica } from './gateway.ts'

const folder = join(import.meta.dirname, '../page')
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name))
const paths = ['/link', '/sign-up', '/sign-in', '/reset-password', '/account']
/** As browsers send it when a person opens an address. */
const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const open = (path: string) => fetch(gateway.url + path, { headers: { accept } })

test.each(['/', ...paths.flatMap((path) => [path, `${path}/`])])(
  '%s is a page with a policy that forbids other origins',
  async (path) => {
    const answer = await open(path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';/,
    )
    const html = await answer.text()
    const assets = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, asset = '']) => asset)
    expect(assets.length).toBeGreaterThan(2)
    for (const asset of assets)
      expect({ asset, status: (await open(asset)).status }).toMatchObject({ status: 200 })
    expect(html).not.toMatch(/<script(?! type="module" src=)|<style|style=|\son\w+=/)
  },
)

test.each(['*/*', 'application/json', 'application/json, text/html'])(
  'a program that gets /sign-up with Accept: %s is answered in JSON',
  async (accepted) => {
    const answer = await fetch(`${gateway.url}/sign-up`, { headers: { accept: accepted } })
    expect(answer.ok).toBe(false)
    expect(await answer.json()).toMatchObject({ ok: false })
  },
)

test.each([undefined, '*/*', 'application/json'])(
  'a program that gets / with Accept: %s learns in JSON where to go on',
  async (accepted) => {
    const answer = await fetch(gateway.url, accepted ? { headers: { accept: accepted } } : {})
    expect(answer.status).toBe(200)
    const { ok, name, ...paths }: Record<string, unknown> = JSON.parse(await answer.text())
    expect({ ok, name }).toEqual({ ok: true, name: 'wagate' })
    for (const path of Object.values(paths).map(String))
      expect({ path, status: (await open(path)).status }).toEqual({ path, status: 200 })
    expect((await fetch(gateway.url, { method: 'POST' })).status).toBe(405)
  },
)

test('every file of the pages is served as it is, and imports only what is served', async () => {
  const scripts = names.filter((name) => !name.endsWith('.html'))
  expect(scripts.length).toBeGreaterThan(20)
  for (const name of scripts) {
    const answer = await open(`/${name}`)
    const text = await answer.text()
    expect({ name, text }).toEqual({ name, text: readFileSync(join(folder, name), 'utf8') })
    for (const [, imported = ''] of text.matchAll(/from '([^']+)'/g)) {
      const { pathname } = new URL(imported, `${gateway.url}/${name}`)
      expect({ name, imported, status: (await open(pathname)).status }).toMatchObject({ status: 200 })
    }
  }
})

test('the scripts of the pages write no markup, and keep nothing but the session of a link', () => {
  for (const name of names.filter((one) => one.endsWith('.js'))) {
    const text = readFileSync(join(folder, name), 'utf8')
    expect({
      name,
      found: text.match(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|localStorage|cookie\b(?! of)/g,
      ),
    }).toEqual({
      name,
      found: null,
    })
    if (name !== 'shared/link-session.js') expect(text).not.toContain('sessionStorage')
  }
})

const browserPath = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'].find(
  existsSync,
)

describe.skipIf(!browserPath)('in a browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserPath ?? '', args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())

  test('the page at / offers accounts and simulated phones only where there are any', async () => {
    const shown = async (settings: Record<string, string>) => {
      const port = String(await freePort())
      const replica = await startReplica(gateway, { PORT: port, ...settings })
      const page = await browser.newPage()
      try {
        await page.goto(replica.url, { waitUntil: 'networkidle' })
        const links = page.locator('a:visible')
        return await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))
      } finally {
        await page.close()
        await replica.close()
      }
    }
    const always = ['/docs', '/openapi.json', '/link', '/health/ready']
    expect((await shown({})).toSorted()).toEqual(always.toSorted())
    const mailing = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com', PUBLIC_URL: gateway.url }
    const open = await shown({ ...mailing, SIGN_UP: 'open' })
    expect(open.toSorted()).toEqual([...always, '/account', '/sign-up'].toSorted())
    const invited = await shown({ ...mailing, SIGN_UP: 'invite' })
    expect(invited.toSorted()).toEqual([...always, '/account'].toSorted())
  })

  test('the pages say that nobody can sign up or in while SIGN_UP is off', async () => {
    const page = await browser.newPage()
    for (const path of ['/sign-up', '/sign-up#wag_mail_x', '/sign-in', '/reset-password', '/account']) {
      await page.goto(gateway.url + path)
      await page.locator('#status', { hasText: 'Ask its operator for an API key.' }).waitFor()
      expect(await page.locator('input:visible, button:visible, a:visible').count()).toBe(0)
    }
  })

  test('the pages offer no sign-up to people who need an invitation', async () => {
    const mails = await startMailServer()
    const port = String(await freePort())
    const invites = await startReplica(gateway, {
      PORT: port,
      PUBLIC_URL: `http://127.0.0.1:${port}`,
      SIGN_UP: 'invite',
      SMTP_URL: mails.url,
      MAIL_FROM: 'a@example.com',
    })
    try {
      const page = await browser.newPage()
      const said = async (text: string) => {
        await page.locator('#status', { hasText: text }).waitFor()
        expect(await page.locator('#email-form').isVisible()).toBe(false)
        expect(await page.locator('a[href="/sign-in"]').isVisible()).toBe(true)
      }
      await page.goto(`${invites.url}/sign-up`)
      await said('Ask its operator for an invitation.')
      const token = makeApiKey('wag_mail_')
      await page.goto(`${invites.url}/sign-up#${token}`)
      await page.click('#continue')
      await said(
        'If you have an account, sign in. Otherwise, ask the operator of the gateway for an invitation.',
      )
      await page.goto(`${invites.url}/sign-in`)
      await page.locator('#sign-in-form').waitFor()
      expect(await page.locator('a[href="/sign-up"]').isVisible()).toBe(false)
    } finally {
      await invites.close()
      await mails.close()
    }
  })

  test('the pages of a browser without JavaScript say so, and nothing else', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    for (const path of paths) {
      await page.goto(gateway.url + path)
      expect(await page.locator('noscript').textContent()).toContain('Turn it on, then reload the page.')
      expect(await page.locator('#status').isVisible()).toBe(false)
    }
  })
})

test('the pages know the network of the gateway', async () => {
  const answer = await open('/accounts/installation.json')
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await answer.json()).toEqual({
    network: 'live',
    sign_up: 'off',
    account_deletion_days: 7,
  })
})
