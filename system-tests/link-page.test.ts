import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserPath, useBrowser, visitLinkPage } from './link-page.ts'

const quickQrCodes = new URL('./quick-qr-codes.mjs', import.meta.url).href

let system: TestSystem
let gateway: GatewayClient

const title = browserPath ? 'the link page' : 'the link page, without Chromium on this machine'
describe.skipIf(!browserPath)(title, () => {
  beforeAll(async () => {
    // Long enough for a scan on a busy machine: six of them are shown by one connection.
    const rotation = { QR_CODE_MS: '5000', NODE_OPTIONS: `--import ${quickQrCodes}` }
    system = await openTestSystem({ environment: (name) => (name.startsWith('worker') ? rotation : {}) })
    gateway = await system.createAccount(20)
  }, 60_000)

  afterAll(() => system?.close(), 30_000)

  const { openLinkPage, newPage } = useBrowser()

  const open = (url = `${system.devnet.apiUrl}/link`, options = {}) => openLinkPage(url, options)

  /** The URL of a new one-time link. */
  async function createLink(sender: string): Promise<string> {
    return String((await gateway.call('create-link', { sender })).body.url)
  }

  it('links with an API key, by keyboard only, and keeps the key to itself', async () => {
    const sender = '15550760001'
    const { body } = await gateway.call('create-key', { name: 'page' })
    const key = String(body.api_key)
    const tab = await open()
    await tab.untilStatus('Enter the API key')
    await tab.shoot('key')
    await tab.page.keyboard.type(key)
    await tab.page.keyboard.press('Tab')
    await tab.page.keyboard.type(`+${sender}`)
    await tab.page.keyboard.press('Enter')
    await system.phones.scan(await tab.untilQr(), sender)
    await tab.untilStatus('Connected')
    expect((await gateway.statusOf(sender)).status).toBe('connected')

    expect(tab.urls.join(' ')).not.toContain(key)
    expect(
      tab.urls.filter((url) => !url.startsWith(system.devnet.apiUrl) && !url.startsWith('data:')),
    ).toEqual([])
    expect(
      await tab.page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])'),
    ).not.toContain(key)
    expect(tab.problems).toEqual([])
    await tab.page.reload()
    await tab.untilStatus('Enter the API key')
  })

  it('refuses a wrong key in plain words', async () => {
    const tab = await open()
    await tab.page.fill('#key', 'wag_nothing')
    await tab.page.fill('#sender', '15550760002')
    await tab.page.click('#key-view button')
    await tab.untilStatus('This API key is not valid')
  })

  it('links with a one-time link that leaves no secret behind, also after a reload', async () => {
    const sender = '15550760003'
    const url = await createLink(sender)
    const secret = new URL(url).hash.slice(1)
    const tab = await open(url)
    const first = await tab.untilQr()
    await tab.shoot('qr')
    expect(tab.page.url()).toBe(`${system.devnet.apiUrl}/link`)
    expect(await tab.page.evaluate('history.length')).toBeLessThanOrEqual(2)
    const requested = tab.urls.filter((seen) => !seen.endsWith(`#${secret}`))
    expect(requested.join(' ')).not.toMatch(/wag_/)
    await tab.page.reload()
    await system.phones.scan(await tab.untilQr(), sender)
    expect(first).toMatch(/^data:/)
    await tab.untilStatus('Connected')
    expect(tab.problems).toEqual([])

    const second = await open(url)
    await second.untilStatus('This link has already been used. Ask for a new one.')
  })

  it('opens a one-time link with a click only, so that programs that load it do not use it up', async () => {
    const url = await createLink('15550760011')
    const scanner = await visitLinkPage(await newPage(), url, { continues: false })
    await scanner.untilStatus('This link opens once')
    await scanner.shoot('continue')
    await scanner.page.reload()
    await scanner.untilStatus('This link opens once')
    expect(scanner.urls.join(' ')).not.toContain('open-link')
    const tab = await open(url)
    await tab.untilQr()
    await scanner.page.keyboard.press('Enter')
    await scanner.untilStatus('This link has already been used')
    expect(scanner.page.url()).toBe(`${system.devnet.apiUrl}/link`)
  })

  it.each([
    ['before_scan', '15550760021'],
    ['after_scan', '15550760022'],
    ['both', '15550760023'],
  ])('shows a new code when WhatsApp retires the secret of the one it shows (%s)', async (code, sender) => {
    await system.phones.fault({ kind: 'registration_refresh', code })
    const tab = await open(await createLink(sender))
    let shown = await tab.untilQr()
    const scan = () =>
      system.phones.scan(shown, sender).then(
        () => true,
        () => false,
      )
    // The phone refuses retired codes, and the person scans the one that the page shows then.
    for (let scans = 0; !(await scan()); scans++) {
      expect(scans).toBeLessThan(3)
      shown = await tab.untilQr(shown)
    }
    await tab.untilStatus('Connected')
    await system.phones.clearFaults()
    expect(tab.problems).toEqual([])
  })

  it('says that a link has expired', async () => {
    const url = await createLink('15550760004')
    await system.database.$client`UPDATE pairing_links SET expires_at = now()`
    const tab = await open(url)
    await tab.untilStatus('This link has expired. Ask for a new one.')
    await tab.shoot('expired-link')
  })

  it('says that a phone with another number has scanned, and starts again on request', async () => {
    const sender = '15550760005'
    const tab = await open(await createLink(sender))
    const qr = await tab.untilQr()
    await system.phones.scan(qr, '15550760055').catch(() => undefined)
    await tab.untilStatus(`A phone with another number scanned the code. Scan it with +${sender}.`)
    await tab.shoot('wrong-number')
    await tab.page.click('#again')
    await system.phones.scan(await tab.untilQr(qr), sender)
    await tab.untilStatus('Connected')
    await tab.shoot('connected')
  })

  it('shows a pairing code in place of the QR code, which a click brings back', async () => {
    const sender = '15550760006'
    const tab = await open(await createLink(sender))
    await tab.untilQr()
    await tab.page.click('#use-code')
    const code = tab.page.locator('#code', { hasText: /^[1-9A-Z]{4}-[1-9A-Z]{4}$/ })
    const shown = String(await code.textContent()).replace('-', '')
    await tab.shoot('pairing-code')
    expect(await tab.page.locator('#qr').isVisible()).toBe(false)
    await tab.page.click('#qr-view summary')
    expect(await tab.page.locator('#qr').isVisible()).toBe(true)
    expect(await gateway.control('/type-code', { number: sender, code: shown })).toMatchObject({ ok: true })
    await tab.untilStatus('Connected')
  })

  it('shows the QR code of another worker after its own was killed, without a click', async () => {
    const sender = '15550760007'
    const tab = await open(await createLink(sender))
    const qr = await tab.untilQr()
    const owner = await system.ownerOf(sender)
    system.devnet.signal(owner, 'SIGKILL')
    const next = await tab.untilQr(qr)
    await system.phones.scan(next, sender)
    await tab.untilStatus('Connected')
    await system.devnet.start(owner)
  }, 60_000)

  it('recovers when the gateway was away', async () => {
    const sender = '15550760008'
    const tab = await open(await createLink(sender))
    await tab.untilQr()
    system.devnet.signal('api', 'SIGKILL')
    await tab.untilStatus('The gateway cannot be reached')
    await system.devnet.start('api')
    await system.phones.scan(await tab.untilQr(), sender)
    await tab.untilStatus('Connected')
  }, 60_000)

  it('follows the rotation of the QR code, then says that it has expired', async () => {
    const sender = '15550760009'
    const tab = await open(await createLink(sender))
    const first = await tab.untilQr()
    const second = await tab.untilQr(first)
    await system.database.$client`UPDATE devices SET pairing_until = now() WHERE sender = ${sender}`
    await tab.untilStatus('The code has expired')
    await tab.page.click('#again')
    await system.phones.scan(await tab.untilQr(second), sender)
    await tab.untilStatus('Connected')
    const calls = tab.urls.filter((url) => url.includes('generate-qr') || url.includes('pairing-status'))
    expect(calls.length).toBeLessThan(15)
  })

  it.each(['light', 'dark'] as const)('fits the width of a phone, in the %s', async (colorScheme) => {
    const tab = await open(await createLink('15550760010'), { colorScheme })
    await tab.untilQr()
    await tab.shoot(`qr-${colorScheme}`)
    const [width, total] = await tab.page.evaluate<number[]>(
      '[document.documentElement.clientWidth, document.documentElement.scrollWidth]',
    )
    expect(total).toBe(width)
  })
})
