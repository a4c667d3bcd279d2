import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserPath, launchBrowser } from './link-page.ts'

const [sender, recipient] = ['15552084621', '15552084622']
/** A picture of one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let system: TestSystem
let gateway: GatewayClient
let browser: Browser
let page: Page
const problems: string[] = []

const title = browserPath
  ? 'the page of the simulated phones'
  : 'the page of the simulated phones, without Chromium'
describe.skipIf(!browserPath)(title, () => {
  beforeAll(async () => {
    system = await openTestSystem()
    gateway = await system.createAccount(3)
    browser = await launchBrowser()
    await gateway.link(sender)
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    page.on('pageerror', (error) => problems.push(error.message))
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    await system?.close()
  }, 30_000)

  it('shows pictures, plays sound and video, and names documents', async () => {
    const files = [
      { type: 'image', url: `data:image/png;base64,${png}`, caption: 'A picture' },
      {
        type: 'document',
        url: `data:application/pdf;base64,${Buffer.from('%PDF-1.4').toString('base64')}`,
        filename: 'bill 7.pdf',
      },
    ]
    for (const file of files) {
      const { body } = await gateway.call('send-media', { sender, number: recipient, ...file })
      await gateway.untilMessage(body.message_id, 'is delivered', ({ status }) => status === 'delivered')
    }
    await page.goto(`${system.devnet.simulator?.controlUrl}/#${recipient}/${sender}`)
    const width = () => page.evaluate('document.querySelector("img.shown[alt=\'A picture\']")?.naturalWidth')
    await expect.poll(width, { timeout: 20_000 }).toBe(1)
    const link = page.locator('a.media', { hasText: 'bill 7.pdf' })
    expect(await link.getAttribute('download')).toBe('bill 7.pdf')
    await page.goto(`${system.devnet.simulator?.controlUrl}/#${sender}/${recipient}`)
    await expect.poll(width, { timeout: 20_000 }).toBe(1)
    expect(problems).toEqual([])
  }, 60_000)

  it.each(['audio/ogg', 'video/mp4'])('has a player for %s', async (mime) => {
    const file = Buffer.from(`a file of ${mime}`)
    const written = { to: sender, file: file.toString('base64'), mime }
    await gateway.control(`/chats/${recipient}/send`, written)
    const player = page.locator(`${mime.split('/')[0]}.shown[controls]`)
    await player.waitFor()
    const played = await fetch(new URL(String(await player.getAttribute('src')), page.url()))
    expect([played.headers.get('content-type'), await played.text()]).toEqual([mime, file.toString()])
  })

  it('says what dots and numbers mean, and what the row that refuses logins is for', async () => {
    expect(await page.locator('.legend').textContent()).toMatch(
      /connected.*linked, offline.*not linked.*messages received/s,
    )
    const row = page.locator('.refusal')
    expect(await row.textContent()).toContain('refuse the logins')
    for (const label of ['Error', 'Seconds']) await row.getByLabel(label).waitFor()
    const clipped = await page.evaluate(
      "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth || clientWidth < 190)(document.querySelector('.refusal select'))",
    )
    expect(clipped).toBe(false)
  })

  it('says that pasted text is not that of a QR code', async () => {
    await page.click('#open-scan')
    await page.fill('#scan-number', recipient)
    await page.fill('#scan-text', 'nonsense')
    await page.click('#scan-submit')
    await page.getByText('This is not the text of a WhatsApp QR code. It begins with').waitFor()
  })

  it('sends a file of each form, as a sticker', async () => {
    await page.goto(`${system.devnet.simulator?.controlUrl}/#${recipient}/${sender}`)
    // Without the dialogs of other tests.
    await page.reload()
    await page.locator('#send-file').selectOption('sticker')
    await page.locator('.bubble.out img.shown[alt="sticker"]').waitFor()
    expect(await page.locator('#send-file').inputValue()).toBe('')
    expect(problems).toEqual([])
  })
})
