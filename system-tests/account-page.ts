import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { makeClient } from '@wagate/test-kit/http-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import axe from 'axe-core'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { type LinkPage, useBrowser } from './link-page.ts'

export const password = 'correct horse battery'

type Mail = { to: string[]; text: string }
type Person = { email: string; key: string }

/** Others of the same client address make accounts, too. */
const environment = { LIMIT_MAILS_PER_HOUR: '0', LIMIT_SIGN_INS_PER_MINUTE: '1000' }

/** A system and its people, who read their mails and use the pages in browsers, for the tests of a `describe`. */
export function usePeople() {
  let system: TestSystem
  beforeAll(async () => {
    system = await openTestSystem({ environment })
  }, 60_000)
  afterAll(() => system?.close(), 30_000)
  const { openLinkPage } = useBrowser()

  const urlOf = (path: string) => `${system.devnet.apiUrl}${path}`
  const post = (path: string, body: unknown) => makeClient(system.devnet.apiUrl).post(path, body)

  /** The secret link in the newest mail to the address, once there are `count` mails with one. */
  const linkTo = (email: string, count = 1): Promise<string> =>
    until(`${count} mails with a link to ${email}`, async () => {
      const mails = await system.gateway.control<Mail[]>('/mails')
      const own = mails.filter(({ to }) => to.includes(email))
      const links = own.flatMap(({ text }) => /http\S+#wag_mail_\w+/.exec(text)?.[0] ?? [])
      return links.length >= count && links.at(-1)
    })

  return {
    system: () => system,
    /** Of a page. */
    urlOf,
    linkTo,
    /** Makes an account without the pages. */
    async signUp(email: string): Promise<Person> {
      await post('/sign-up', { email })
      const token = new URL(await linkTo(email)).hash.slice(1)
      const { body } = await post('/confirm-email', { token, password })
      return { email, key: String(body.api_key) }
    },
    /** A new browser with this page. */
    open: (path: string, options: BrowserContextOptions = {}): Promise<LinkPage> =>
      openLinkPage(path.startsWith('http') ? path : urlOf(path), options),
    /** A new browser in which this person has opened the account. */
    async signIn(email: string, options: BrowserContextOptions = {}): Promise<LinkPage> {
      const tab = await openLinkPage(urlOf('/sign-in'), options)
      await submitSignIn(tab.page, email, password)
      await tab.page.waitForURL(urlOf('/account'))
      await tab.untilStatus('You are signed in.')
      return tab
    },
  }
}

export async function submitSignIn(page: Page, email: string, typed: string): Promise<void> {
  await page.fill('#email', email)
  await page.fill('#password', typed)
  await page.keyboard.press('Enter')
}

/** Runs the commands of the page for new accounts. */
export async function typeCommands(
  { page }: LinkPage,
  { sender, recipient }: { sender: string; recipient: string },
): Promise<string> {
  const texts = await page.locator('#commands pre').allTextContents()
  const script = texts.join('\n').replaceAll('15550100001', sender).replaceAll('15550100002', recipient)
  return (await promisify(execFile)('bash', ['-euc', script])).stdout
}

/** Fails if people cannot use the page well: what axe finds serious, and what is wider than the screen. */
export async function expectAccessible({ page, shoot }: LinkPage, screenshot: string): Promise<void> {
  await shoot(screenshot)
  await page.evaluate(axe.source)
  const found = await page.evaluate<{ impact: string; id: string; nodes: { html: string }[] }[]>(
    'axe.run().then(({ violations }) => violations)',
  )
  const barriers = found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }))
  expect(barriers).toEqual([])
  const [width, total] = await page.evaluate<number[]>(
    '[document.documentElement.clientWidth, document.documentElement.scrollWidth]',
  )
  expect(total).toBe(width)
}

/** What the browser complained about, apart from refusals that the page shows. */
export const problemsOf = ({ problems }: LinkPage): string[] =>
  problems.filter(
    (text) => !/^Failed to load resource: the server responded with a status of 4\d\d/.test(text),
  )

/** Fails if one of the secrets is where other people or programs find it. `urls` may begin with the opened link. */
export async function expectHidden({ page, urls, logged }: LinkPage, secrets: string[]): Promise<void> {
  const seen = await page.evaluate<string>(
    'JSON.stringify([sessionStorage, localStorage, document.cookie, document.title, location.href, history.state])',
  )
  const places = [...urls.filter((url) => !/#wag_mail_\w+$/.test(url)), ...logged, seen].join('\n')
  expect(secrets.filter((secret) => places.includes(secret))).toEqual([])
  expect(seen).not.toMatch(/wag_/)
}
