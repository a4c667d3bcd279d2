import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'

export const browserPath = ['/usr/bin/chromium', '/usr/bin/google-chrome', '/usr/bin/chromium-browser'].find(
  existsSync,
)

/** A tab with the link page, and what a person or an operator must never see of it. */
export type LinkPage = {
  page: Page
  /** Resolves when the status line has the text. */
  untilStatus(text: string | RegExp, withinMs?: number): Promise<void>
  /** The QR code of the moment, as soon as it differs from `other`. */
  untilQr(other?: string): Promise<string>
  /** A screenshot for the documentation, if `LINK_PAGE_SCREENSHOTS` names a folder. */
  shoot(name: string): Promise<void>
  /** URLs of all requests, and of the address bar over time. */
  urls: string[]
  problems: string[]
  /** All that the page has written to the console. */
  logged: string[]
}

export const phoneSize = { width: 360, height: 740 }

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath ?? '',
    args: ['--no-sandbox', '--disable-background-networking'],
  })
}

/** A browser for the tests of a `describe`. What a test has opened is closed after it. */
export function useBrowser() {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  }, 60_000)
  afterAll(() => browser?.close(), 30_000)
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
  })
  return {
    /** In a new context, as on another machine. */
    newPage: async () => (await browser.newContext()).newPage(),
    openLinkPage: (url: string, options: BrowserContextOptions = {}) => openLinkPage(browser, url, options),
  }
}

async function openLinkPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<LinkPage> {
  const context = await browser.newContext({ viewport: phoneSize, ...options })
  return visitLinkPage(await context.newPage(), url)
}

/** In a new tab. Opens a one-time link with its button, unless it `continues` not. */
export async function visitLinkPage(page: Page, url: string, { continues = true } = {}): Promise<LinkPage> {
  const urls: string[] = []
  const problems: string[] = []
  const logged: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  page.on('framenavigated', (frame) => urls.push(frame.url()))
  page.on('console', (message) => {
    logged.push(message.text())
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.goto(url)
  if (continues && url.includes('#wag_link_')) await page.click('#continue')
  const line = page.locator('#status')
  return {
    page,
    urls,
    problems,
    logged,
    async shoot(name) {
      const folder = process.env.LINK_PAGE_SCREENSHOTS
      if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
    },
    untilStatus: (text, withinMs = 30_000) => line.filter({ hasText: text }).waitFor({ timeout: withinMs }),
    async untilQr(other = '') {
      const qr = page.locator(`#qr[src^="data:image/png"]:not([src="${other}"])`)
      await qr.waitFor({ timeout: 30_000 })
      return (await qr.getAttribute('src')) ?? ''
    },
  }
}
