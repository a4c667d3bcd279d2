import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserPath, type LinkPage, phoneSize, visitLinkPage } from './link-page.ts'

const extension = join(import.meta.dirname, '../extras/passkey/extension')

let system: TestSystem
let context: BrowserContext

const title = browserPath ? 'a passkey in a browser' : 'a passkey in a browser, without Chromium here'
describe.skipIf(!browserPath)(title, () => {
  beforeAll(async () => {
    system = await openTestSystem({ workers: 1, environment: { PASSKEY_LINK_MS: '1000' } })
    context = await chromium.launchPersistentContext('', {
      executablePath: browserPath ?? '',
      viewport: phoneSize,
      ignoreDefaultArgs: ['--disable-extensions'],
      args: [
        '--no-sandbox',
        '--disable-background-networking',
        `--disable-extensions-except=${extension}`,
        `--load-extension=${extension}`,
      ],
    })
    // A stand-in for the page of WhatsApp, as strict as that about foreign scripts and styles.
    await context.route('https://web.whatsapp.com/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: { 'content-security-policy': "default-src 'none'" },
        body: '<!doctype html><title>WhatsApp Web</title>',
      }),
    )
  }, 60_000)

  afterAll(async () => {
    await context?.close()
    await system?.close()
  }, 30_000)

  /** Gives the browser the passkey of the account, on a platform that recognizes its owner. */
  async function addPasskey(page: Page, sender: string): Promise<void> {
    const { credential_id, private_key } = await system.gateway.control<Record<string, string>>(
      `/chats/${sender}/passkey`,
    )
    const session = await context.newCDPSession(page)
    await session.send('WebAuthn.enable')
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await session.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: {
        credentialId: Buffer.from(String(credential_id), 'base64url').toString('base64'),
        isResidentCredential: true,
        rpId: 'whatsapp.com',
        privateKey: String(private_key),
        userHandle: 'AA==',
        signCount: 1,
      },
    })
  }

  async function scan(sender: string): Promise<LinkPage> {
    await system.gateway.control(`/chats/${sender}/passkey`, {})
    const { body } = await system.gateway.call('create-link', { sender })
    const tab = await visitLinkPage(await context.newPage(), String(body.url))
    await system.phones.scan(await tab.untilQr(), sender)
    await tab.untilStatus('One more step: the passkey')
    return tab
  }

  async function submit({ page }: LinkPage, assertion: string): Promise<void> {
    await page.fill('#assertion', ` ${assertion} `)
    await page.click('#assertion-form button')
  }

  async function compare(tab: LinkPage, sender: string): Promise<void> {
    await tab.untilStatus('Compare the code with the phone')
    await tab.shoot('passkey-code')
    const phone = await system.gateway.control<{ code: string }>(`/chats/${sender}/passkey`)
    expect((await tab.page.locator('#passkey-code').textContent())?.replace('-', '')).toBe(phone.code)
    await tab.page.click('#confirm-code')
    await system.gateway.control(`/chats/${sender}/passkey/accept`, {})
  }

  async function finish(tab: LinkPage, sender: string, assertion: string): Promise<void> {
    await submit(tab, assertion)
    await tab.untilStatus('Connected')
    expect((await system.gateway.statusOf(sender)).status).toBe('connected')
  }

  /** The answer that the extension makes. */
  async function assertInExtension({ page }: LinkPage, passkeyOf: string): Promise<string> {
    const opening = context.waitForEvent('page')
    await page.click('#challenge-link')
    const whatsapp = await opening
    await addPasskey(whatsapp, passkeyOf)
    await whatsapp.getByRole('button', { name: 'Use your passkey' }).click()
    await whatsapp.getByText('Copy this answer').waitFor()
    expect(whatsapp.url()).toBe('https://web.whatsapp.com/')
    return whatsapp.getByLabel('Answer', { exact: true }).inputValue()
  }

  it('is used through the extension, and links the sender', async () => {
    const sender = '15551900101'
    const tab = await scan(sender)
    await tab.shoot('passkey')
    await finish(tab, sender, await assertInExtension(tab, sender))
    expect(tab.problems).toEqual([])
  }, 60_000)

  it('is used through the snippet, and links the sender', async () => {
    const sender = '15551900102'
    const tab = await scan(sender)
    const { challenge } = (await system.gateway.call('passkey-challenge', { sender })).body
    const whatsapp = await context.newPage()
    await whatsapp.goto('https://web.whatsapp.com/')
    await addPasskey(whatsapp, sender)
    // As pasted into the console, which the policy of the page does not concern.
    const session = await context.newCDPSession(whatsapp)
    const evaluate = async (expression: string) =>
      session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    await evaluate(readFileSync(join(extension, 'make-assertion.js'), 'utf8'))
    const { result } = await evaluate(`makeAssertion(${JSON.stringify(challenge)})`)
    await finish(tab, sender, String(result.value))
  }, 60_000)

  it('links the sender once the codes were compared, when the phone asks', async () => {
    const sender = '15551900104'
    const tab = await scan(sender)
    await system.phones.fault({ kind: 'passkey_compare', sender })
    await submit(tab, await assertInExtension(tab, sender))
    await compare(tab, sender)
    await tab.untilStatus('Connected')
    expect(tab.problems).toEqual([])
  }, 60_000)

  it('says that WhatsApp refused the assertion, and takes another one', async () => {
    const sender = '15551900103'
    const tab = await scan(sender)
    const assertion = await assertInExtension(tab, sender)
    await system.phones.fault({ kind: 'passkey_error', sender, code: '403', count: 1 })
    await submit(tab, assertion)
    await tab.untilStatus('WhatsApp did not accept the passkey')
    await finish(tab, sender, assertion)
  }, 60_000)
})
