import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserPath, type LinkPage, useBrowser } from './link-page.ts'

const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } }

let system: TestSystem
let gateway: GatewayClient

const title = browserPath
  ? 'the link page for customers'
  : 'the link page for customers, without Chromium here'
describe.skipIf(!browserPath)(title, () => {
  beforeAll(async () => {
    system = await openTestSystem()
    gateway = await system.createAccount(20)
  }, 60_000)

  afterAll(() => system?.close(), 30_000)

  const { openLinkPage: openUrl } = useBrowser()

  async function open(fields: Record<string, string>, options = {}): Promise<LinkPage> {
    const { body } = await gateway.call('create-link', fields)
    return openUrl(String(body.url), options)
  }

  async function shownCode({ page }: LinkPage): Promise<string> {
    const code = page.locator('#code', { hasText: /^[1-9A-Z]{4}-[1-9A-Z]{4}$/ })
    return String(await code.textContent()).replace('-', '')
  }

  it('leads with a code to copy on a phone, which cannot scan its own screen', async () => {
    const sender = '15552085601'
    const tab = await open({ sender }, { ...phone, permissions: ['clipboard-read', 'clipboard-write'] })
    const code = await shownCode(tab)
    const top = async (selector: string) => (await tab.page.locator(selector).boundingBox())?.y ?? Infinity
    expect(await top('#copy-code')).toBeLessThan(phone.viewport.height)
    expect(await tab.page.locator('#qr').isVisible()).toBe(false)
    expect(await tab.page.locator('#code-ends').textContent()).toMatch(/ [012]:\d\d\.$/)
    await tab.shoot('phone')
    await tab.page.click('#copy-code')
    await tab.page.locator('#copy-status', { hasText: 'Copied.' }).waitFor()
    expect(await tab.page.evaluate('navigator.clipboard.readText()')).toBe(code)
    await tab.page.click('#qr-view summary')
    expect(await tab.page.locator('#qr').isVisible()).toBe(true)
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(phone.viewport.width)
    expect(await gateway.control('/type-code', { number: sender, code })).toMatchObject({ ok: true })
    await tab.untilStatus('Connected')
    expect(tab.problems).toEqual([])
  })

  it('says who asks, what it permits and for how long, also after a reload, and leads back', async () => {
    const sender = '15552085602'
    const asked = { sender, title: '<i>Shop</i> & Co', return_url: 'https://shop.example.com/linked?id=7' }
    const tab = await open(asked)
    for (const again of [false, true]) {
      if (again) await tab.page.reload()
      await tab.untilQr()
      expect(await tab.page.locator('#asker').textContent()).toBe(
        `<i>Shop</i> & Co asks you to link your WhatsApp number +${sender}.`,
      )
      expect(await tab.page.locator('#about').textContent()).toContain('read and send messages')
      expect(await tab.page.locator('#link-ends').textContent()).toMatch(/ [789]:\d\d\.$/)
      expect(await tab.page.locator('#return').isVisible()).toBe(false)
    }
    await tab.shoot('asked')
    await system.phones.scan(await tab.untilQr(), sender)
    await tab.untilStatus(`Connected. +${sender} is linked.`)
    const back = tab.page.locator('#return')
    expect(await back.getAttribute('href')).toBe(asked.return_url)
    expect(await back.textContent()).toBe('Continue to shop.example.com')
    expect(await tab.page.locator('#link-ends').isVisible()).toBe(false)
    expect(tab.page.url()).toBe(`${system.devnet.apiUrl}/link`)
    await tab.shoot('return')
  })

  it('names the sender where nothing says who asks', async () => {
    const tab = await open({ sender: '15552085603', name: 'Front desk' })
    await tab.untilQr()
    expect(await tab.page.locator('#asker').textContent()).toBe(
      'Front desk asks you to link your WhatsApp number +15552085603.',
    )
  })

  it.each([
    ['de-AT', 'de', 'ltr', 'Warten auf das Scannen.', 'WhatsApp verknüpfen'],
    ['ar', 'ar', 'rtl', 'في انتظار المسح.', 'ربط واتساب'],
    ['sv', 'en', 'ltr', 'Waiting for the scan.', 'Link WhatsApp'],
  ])('speaks the language of the browser (%s)', async (locale, lang, dir, said, heading) => {
    const tab = await open({ sender: '15552085604', title: 'Shop' }, { locale })
    await tab.untilStatus(said)
    expect(await tab.page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
      lang,
      dir,
    ])
    expect(await tab.page.locator('h1').textContent()).toBe(heading)
    expect(await tab.page.locator('[data-text]', { hasText: /^$/ }).count()).toBe(0)
    await tab.shoot(`language-${lang}`)
    expect(tab.problems).toEqual([])
  })

  it('says in the words of people what they have mistyped', async () => {
    const tab = await openUrl(`${system.devnet.apiUrl}/link`)
    const { body } = await gateway.call('create-key', { name: 'page' })
    await tab.page.fill('#key', String(body.api_key))
    await tab.page.fill('#sender', 'abc')
    await tab.page.click('#key-view button')
    await tab.untilStatus('Check the phone number: digits only')
    expect(tab.logged.join(' ')).not.toContain(String(body.api_key))
  })

  it('shows a sign and what to do where nothing more can be done', async () => {
    const { body } = await gateway.call('create-link', { sender: '15552085605' })
    const first = await openUrl(String(body.url))
    await first.untilQr()
    const second = await openUrl(String(body.url))
    await second.untilStatus('This link has already been used.')
    expect(await second.page.locator('#ended').textContent()).toContain('Write to the person or business')
    expect(await second.page.locator('button:visible, input:visible').count()).toBe(0)
    await second.shoot('ended')
  })

  it('draws no frame around a heading that has the focus', async () => {
    const tab = await open({ sender: '15552085606' })
    await tab.untilQr()
    const outlineOf = (selector: string) =>
      tab.page.evaluate<string>(
        `(() => { const one = document.querySelector('${selector}'); for (const up of ['#passkey-view']) document.querySelector(up).hidden = false; one.focus(); return document.activeElement === one ? getComputedStyle(one).outlineStyle : 'not focused' })()`,
      )
    await tab.page.keyboard.press('Tab')
    expect(await outlineOf('#passkey-title')).toBe('none')
    expect(await outlineOf('#use-code')).toBe('solid')
  })
})
