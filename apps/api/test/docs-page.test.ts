import { existsSync } from 'node:fs'
import { document } from '@wagate/test-kit/contract'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { preferredMethod } from '../src/openapi/page-document.ts'
import { operationGroups, operations } from '../src/operations.ts'
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
        expect({ asset, status: (await fetch(gateway.url + asset)).status }).toEqual({ asset, status: 200 })
    }
  }
})

test('the document of the page has every operation once, and a third of the size at most', async () => {
  const answer = await fetch(`${gateway.url}/docs/openapi.json`)
  const text = await answer.text()
  const shorter: typeof document = JSON.parse(text)
  expect(text.length).toBeLessThan(JSON.stringify(document).length / 3)
  for (const operation of operations) {
    const ways = shorter.paths[`/${operation.name}`] ?? {}
    expect([operation.name, Object.keys(ways)]).toEqual([operation.name, [preferredMethod(operation)]])
    expect(operation.methods.map((method) => method.toLowerCase())).toContain(preferredMethod(operation))
    const way = ways[preferredMethod(operation)]
    for (const code of operation.errors ?? []) expect(way?.description).toContain(`\`${code}\``)
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

    const shown = () =>
      page
        .locator('.opblock-summary-path:visible')
        .evaluateAll((all) => all.map((one) => one.getAttribute('data-path')))

    test('shows the groups in the order of the guide, and each operation once, in the way that suits it', async () => {
      const titles = await page
        .locator('.opblock-tag')
        .evaluateAll((tags) => tags.map((tag) => tag.getAttribute('data-tag')))
      expect(titles.slice(0, -1)).toEqual(operationGroups.map(({ title }) => title))
      const documented = Object.keys(document.paths)
      expect((await shown()).toSorted()).toEqual(documented.toSorted())
      const methodOf = (path: string) =>
        page
          .locator('.opblock', { has: page.locator(`[data-path="${path}"]`) })
          .locator('.opblock-summary-method')
          .textContent()
      expect(await methodOf('/send-message')).toBe('POST')
      expect(await methodOf('/user-info')).toBe('GET')
    })

    test('finds operations by a word of their path or summary', async () => {
      await page.fill('.operation-filter-input', 'webhook')
      await expect.poll(async () => (await shown()).length).toBeLessThan(12)
      expect(await shown()).toContain('/webhook-deliveries')
      await page.fill('.operation-filter-input', '')
      await expect.poll(async () => (await shown()).length).toBe(Object.keys(document.paths).length)
    })

    test('is dark for people who want it dark', async () => {
      const isDark = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
      await page.emulateMedia({ colorScheme: 'dark' })
      await expect.poll(isDark).toBe('rgb(28, 32, 34)')
      await page.emulateMedia({ colorScheme: 'light' })
      await expect.poll(isDark).not.toBe('rgb(28, 32, 34)')
    })

    test('fits the width of a phone, and shows an operation on its first screen', async () => {
      const { width, height } = { width: 390, height: 844 }
      await page.setViewportSize({ width, height })
      const box = await page.locator('.opblock').first().boundingBox()
      expect(box?.y).toBeLessThan(height)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      await page.setViewportSize({ width: 1280, height: 800 })
    })

    test('"Try it out" calls this gateway with the entered key', async () => {
      const { apiKey } = await gateway.createAccount({ email: 'docs@example.com' })
      await page.locator('.btn.authorize').first().click()
      await page.locator('.auth-container input').first().fill(apiKey)
      await page.locator('.auth-container button[type=submit]').first().click()
      await page.locator('.btn-done').first().click()
      const block = page.locator('.opblock', { has: page.locator('[data-path="/user-info"]') })
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

    test('keeps the entered key over a reload', async () => {
      await page.reload()
      await page.locator('.btn.authorize.locked').waitFor()
    })

    test('requested nothing from other hosts, and nothing was blocked', () => {
      expect(foreign).toEqual([])
      expect(problems).toEqual([])
    })
  },
)
