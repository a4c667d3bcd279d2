import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  expectHidden,
  password,
  problemsOf,
  submitSignIn,
  typeCommands,
  usePeople,
} from './account-page.ts'
import { browserPath, type LinkPage } from './link-page.ts'

const wrongPassword = 'The email address or the password is wrong.'

const title = browserPath
  ? 'the pages for sign-up and sign-in'
  : 'the pages for sign-up, without Chromium here'
describe.skipIf(!browserPath)(title, () => {
  const people = usePeople()

  const askForMail = async (email: string) => submit((await people.open('/sign-up')).page, email)

  it('make an account by keyboard, show its key once, and name commands that send a message', async () => {
    const email = 'keyboard@example.com'
    const first = await people.open('/sign-up')
    await first.untilStatus('All it takes is an email address.')
    await first.page.keyboard.type(email)
    await first.page.keyboard.press('Enter')
    await first.untilStatus('The mail is on its way.')
    expect(await first.page.textContent('#sent-to')).toBe(email)
    await first.page.goto(String(await first.page.getAttribute('#simulated-mailbox a', 'href')))
    await first.page.locator('body', { hasText: email }).waitFor()

    const link = await people.linkTo(email)
    const tab = await people.open(link)
    const { page } = tab
    await tab.untilStatus('This link works once.')
    expect(page.url()).toBe(people.urlOf('/sign-up'))
    await page.keyboard.press('Enter')
    await tab.untilStatus('Choose a password')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await page.locator('#key-view').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('key-title')
    expect(await page.inputValue('#username')).toBe(email)
    const key = String(await page.textContent('#key'))
    expect(key).toMatch(/^wag_[0-9A-Za-z]{49}$/)

    const said = await typeCommands(tab, { sender: '15552069001', recipient: '15552069102' })
    expect(said).toContain('"jid":"15552069001:1@s.whatsapp.net"')
    expect(said).toMatch(/"status":"(sent|delivered)"/)
    expect(await people.system().phones.receivedBy('15552069102')).toMatchObject([
      { text: 'Hello from wagate' },
    ])

    await page.focus('#open-account')
    await page.keyboard.press('Enter')
    await page.waitForURL(people.urlOf('/account'))
    await tab.untilStatus('You are signed in.')
    expect(await page.textContent('#account-email')).toBe(email)
    expect(await page.textContent('#senders')).toContain('+15552069001 Linked')
    expect(await page.content()).not.toContain(key)
    await expectHidden(tab, [key, password, new URL(link).hash.slice(1)])
    expect([...problemsOf(first), ...problemsOf(tab)]).toEqual([])
  })

  it('do not use up a link that a program only loads', async () => {
    const email = 'scanner@example.com'
    await askForMail(email)
    const link = await people.linkTo(email)
    const scanner = await people.open(link)
    await scanner.untilStatus('This link works once.')
    await scanner.page.reload()
    await scanner.untilStatus('All it takes is an email address.')
    expect(scanner.urls.join(' ')).not.toContain('confirm-email')

    const tab = await people.open(link)
    await tab.page.click('#continue')
    await tab.untilStatus('Choose a password')
  })

  it('say that a password is easy to guess, and take another one', async () => {
    const email = 'guessable@example.com'
    await askForMail(email)
    const tab = await people.open(await people.linkTo(email))
    await tab.page.click('#continue')
    await tab.page.fill('#password', 'password1')
    await tab.page.keyboard.press('Enter')
    await tab.untilStatus('The password is one of the most used passwords: choose another one.')
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('password')
    await tab.page.click('[data-reveals=password]')
    expect(await tab.page.getAttribute('#password', 'type')).toBe('text')
    await tab.page.fill('#password', password)
    await tab.page.keyboard.press('Enter')
    await tab.page.locator('#key-view').waitFor()
    expect(await tab.page.getAttribute('#password', 'type')).toBe('password')
  })

  it('say that a link was used or has expired, and offer another one', async () => {
    const email = 'late@example.com'
    await askForMail(email)
    const link = await people.linkTo(email)
    await people.system().database.$client`UPDATE mailed_links SET expires_at = now() WHERE email = ${email}`
    const tab = await people.open(link)
    await tab.page.click('#continue')
    await tab.untilStatus('This link is not valid any more')
    await submit(tab.page, email)
    await tab.untilStatus('The mail is on its way.')

    const again = await people.linkTo(email, 2)
    await tab.page.goto(again)
    await tab.page.click('#continue')
    await tab.page.fill('#password', password)
    await tab.page.keyboard.press('Enter')
    await tab.page.locator('#key-view').waitFor()
    const used = await people.open(again)
    await used.page.click('#continue')
    await used.untilStatus('If you have an account, sign in. Otherwise, ask for a new link.')
    expect(await used.page.locator('#email-form').isVisible()).toBe(true)
    expect(await used.page.locator('a[href="/sign-in"]').isVisible()).toBe(true)
  })

  it('say the same of a wrong address, a wrong password and one that is too short', async () => {
    const { email } = await people.signUp('wrong@example.com')
    const tab = await people.open('/sign-in')
    const tries = [
      [email, 'not the password'],
      ['unknown@example.com', password],
      [email, 'short'],
    ] as const
    for (const [address, typed] of tries) {
      await submitSignIn(tab.page, address, typed)
      await tab.untilStatus(wrongPassword)
      await tab.page.evaluate("document.getElementById('status').textContent = ''")
    }
    await submitSignIn(tab.page, email, password)
    await tab.page.waitForURL(people.urlOf('/account'))
    await tab.untilStatus('You are signed in.')
    await expectHidden(tab, [password, 'not the password'])
    expect(problemsOf(tab)).toEqual([])
  })

  it('say how long to wait after too many attempts', async () => {
    const tab = await people.open('/sign-in')
    for (let tries = 0; !(await refusedForNow(tab)); tries++) {
      expect(tries).toBeLessThan(12)
      await submitSignIn(tab.page, 'many@example.com', 'not the password')
    }
    await tab.untilStatus(/Too many attempts\. Try again in \d+ (seconds|minutes)\./)
  })

  it('give a new password by mail, and sign in with it', async () => {
    const { email, key } = await people.signUp('forgetful@example.com')
    const tab = await people.open('/sign-in')
    await tab.page.click('text=Forgot your password?')
    await submit(tab.page, email)
    await tab.untilStatus('Almost done.')
    const link = await people.linkTo(email, 2)
    const fresh = await people.open(link)
    await fresh.untilStatus('Choose a new password.')
    expect(fresh.page.url()).toBe(people.urlOf('/reset-password'))
    await fresh.page.fill('#password', 'staple correct horse')
    await fresh.page.keyboard.press('Enter')
    await fresh.page.waitForURL(people.urlOf('/account'))
    await fresh.untilStatus('You are signed in.')
    await expectHidden(fresh, ['staple correct horse', new URL(link).hash.slice(1)])
    expect(await (await fetch(people.urlOf(`/user-info?api_key=${key}`))).json()).toMatchObject({
      email,
    })

    await tab.page.goto(people.urlOf('/sign-in'))
    await submitSignIn(tab.page, email, password)
    await tab.untilStatus(wrongPassword)
    const used = await people.open(link)
    await used.page.fill('#password', 'staple correct horse')
    await used.page.keyboard.press('Enter')
    await used.untilStatus('This link is not valid any more')
  })

  it.each(['light', 'dark'] as const)(
    'fit a narrow phone and are accessible, in the %s',
    async (colorScheme) => {
      const options = { colorScheme, viewport: { width: 320, height: 640 } }
      const email = `narrow-${colorScheme}@example.com`
      const tab = await people.open('/sign-up', options)
      await tab.untilStatus('All it takes is an email address.')
      await expectAccessible(tab, `sign-up-${colorScheme}`)
      await submit(tab.page, email)
      await tab.untilStatus('The mail is on its way.')
      await expectAccessible(tab, `mailbox-${colorScheme}`)
      await tab.page.goto(await people.linkTo(email))
      await tab.untilStatus('This link works once.')
      await expectAccessible(tab, `continue-${colorScheme}`)
      await tab.page.click('#continue')
      await tab.untilStatus('Choose a password')
      await expectAccessible(tab, `password-${colorScheme}`)
      await tab.page.fill('#password', password)
      await tab.page.keyboard.press('Enter')
      await tab.page.locator('#key-view').waitFor()
      await expectAccessible(tab, `key-${colorScheme}`)
      await tab.page.goto(people.urlOf('/sign-in'))
      await submitSignIn(tab.page, email, 'not the password')
      await tab.untilStatus(wrongPassword)
      await expectAccessible(tab, `sign-in-${colorScheme}`)
      expect(problemsOf(tab)).toEqual([])
    },
  )
})

async function submit(page: LinkPage['page'], email: string): Promise<void> {
  await page.fill('#email', email)
  await page.keyboard.press('Enter')
  await page.locator('#mailbox-view').waitFor()
}

/** Waits for the answer to the form, if one is on its way. */
async function refusedForNow({ page }: LinkPage): Promise<boolean> {
  await page.locator('#sign-in-form [type=submit]:not([disabled])').waitFor()
  return (await page.textContent('#status'))?.startsWith('Too many attempts') ?? false
}
