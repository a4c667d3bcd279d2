import { existsSync } from 'node:fs'
import { document } from '@wagate/test-kit/contract'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { docsFiles } from '../src/pages/docs-page.ts'
import { type Gateway, startGateway } from './gateway.ts'

const browserPath = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'].find(
  existsSync,
)

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

test('the page and its files are served with a policy that forbids other origins', async () => {
  for (const [path, { type }] of Object.entries(docsFiles)) {
    const answer = await fetch(gateway.url + path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';/,
    )
    const text = await answer.text()
    expect(text.length).toBeGreaterThan(0)
    if (type.startsWith('text/html')) {
      for (const [, asset = ''] of text.matchAll(/(?:src|href)="([^"]+)"/g))
        expect(docsFiles).toHaveProperty([asset])
    }
  }
})

describe.skipIf(!browserPath)(
  browserPath ? 'in Chromium' : 'in Chromium, which this machine does not have',
  () => {
    let browser: Browser
    let page: Page
    const foreign: string[] = []
    const problems: string[] = []
    beforeAll(async () => {
      browser = await chromium.launch({
        executablePath: browserPath ?? '',
        args: ['--no-sandbox', '--disable-background-networking'],
      })
      page = await browser.newPage()
      page.on('request', (request) => {
        const url = request.url()
        if (!url.startsWith(gateway.url) && !url.startsWith('data:')) foreign.push(url)
      })
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      page.on('pageerror', (error) => problems.push(error.message))
      await page.goto(`${gateway.url}/docs`)
      await page.waitForSelector('.opblock-tag')
    })
    afterAll(() => browser?.close())

    test('shows every operation, and its ways once it is opened', async () => {
      const shown = await page
        .locator('.opblock-tag')
        .evaluateAll((tags) => tags.map((tag) => tag.getAttribute('data-tag')))
      const described = Object.values(document.paths).flatMap(({ get, post }) =>
        [get, post].flatMap((operation) => operation?.tags ?? []),
      )
      expect(shown.sort()).toEqual([...new Set([...described, 'webhooks'])].sort())
      await page.locator('[id="operations-tag-user-info"]').click()
      const ways = await page
        .locator('[id^=operations-user-info-]')
        .evaluateAll((blocks) => blocks.map(({ id }) => id))
      expect(ways).toEqual(['operations-user-info-userInfoByGet', 'operations-user-info-userInfo'])
    })

    test('"Try it out" calls this gateway with the entered key', async () => {
      const { apiKey } = await gateway.createAccount({ email: 'docs@example.com' })
      await page.locator('.btn.authorize').first().click()
      await page.locator('.auth-container input').first().fill(apiKey)
      await page.locator('.auth-container button[type=submit]').first().click()
      await page.locator('.btn-done').first().click()
      const block = page.locator('[id="operations-user-info-userInfoByGet"]')
      await block.locator('.opblock-summary-control').click()
      await block.locator('.try-out__btn').click()
      await block.locator('.execute').click()
      await block
        .locator('.live-responses-table .response-col_description')
        .getByText('docs@example.com')
        .waitFor()
      expect(
        await block.locator('.live-responses-table .response-col_status').last().textContent(),
      ).toContain('200')
    })

    test('requested nothing from other hosts, and nothing was blocked', () => {
      expect(foreign).toEqual([])
      expect(problems).toEqual([])
    })
  },
)
