import { describe, expect, it } from 'vitest'
import {
  expectAccessible,
  expectHidden,
  password,
  problemsOf,
  submitSignIn,
  usePeople,
} from './account-page.ts'
import { browserPath } from './link-page.ts'

const title = browserPath ? 'the page of an account' : 'the page of an account, without Chromium here'
describe.skipIf(!browserPath)(title, () => {
  const people = usePeople()

  it('links a sender without a key, and comes back', async () => {
    const sender = '15552070001'
    const { email } = await people.signUp('linking@example.com')
    const tab = await people.signIn(email)
    const { page } = tab
    expect(await page.textContent('#account-devices')).toBe('0 of 1 allowed')
    expect(await page.textContent('#senders')).toBe('None yet.')
    await page.fill('#sender', '12')
    await page.keyboard.press('Enter')
    await page.locator('#senders-status', { hasText: 'This is not a phone number.' }).waitFor()
    await page.fill('#sender', `+${sender}`)
    await page.keyboard.press('Enter')
    await page.waitForURL(people.urlOf('/link#account'))
    await people.system().phones.scan(await tab.untilQr(), sender)
    await tab.untilStatus('Connected')
    await page.click('#back a')
    await tab.untilStatus('You are signed in.')
    expect(await page.textContent('#senders')).toContain(`+${sender} Linked`)
    expect(await page.textContent('#account-devices')).toBe('1 of 1 allowed')

    await page.fill('#sender', '15552070002')
    await page.keyboard.press('Enter')
    await page.locator('#senders-status', { hasText: 'The account cannot have more senders.' }).waitFor()
    expect(problemsOf(tab)).toEqual([])
  })

  it('removes a sender whose number was mistyped, so that another one can be linked', async () => {
    const [mistyped, sender] = ['15552070011', '15552070012']
    const { email } = await people.signUp('mistyping@example.com')
    const tab = await people.signIn(email)
    const { page } = tab
    const link = async (number: string) => {
      await page.fill('#sender', number)
      await page.keyboard.press('Enter')
      await page.waitForURL(people.urlOf('/link#account'))
      await page.click('#back a')
      await tab.untilStatus('You are signed in.')
    }
    await link(mistyped)
    await page.getByRole('button', { name: `Remove +${mistyped}` }).click()
    await page.keyboard.press('Enter')
    await page.locator('#question').waitFor({ state: 'hidden' })
    expect(await page.textContent('#senders')).toContain(mistyped)
    await page.getByRole('button', { name: `Remove +${mistyped}` }).click()
    await page.click('#question-yes')
    await page.locator('#senders-status', { hasText: `+${mistyped} is removed.` }).waitFor()
    expect(await page.textContent('#account-devices')).toBe('0 of 1 allowed')
    await link(sender)
    expect(await page.textContent('#senders')).toContain(`+${sender}`)
    expect(problemsOf(tab)).toEqual([])
  })

  it('shows a new key once, and revokes the key that the question names', async () => {
    const { email, key: first } = await people.signUp('keys@example.com')
    const tab = await people.signIn(email)
    const { page } = tab
    await page.fill('#key-name', 'Shop <b>1</b>')
    await page.keyboard.press('Enter')
    await page.locator('#new-key-view').waitFor()
    const key = String(await page.textContent('#new-key'))
    const asks = async (asked: string) => (await fetch(people.urlOf(`/user-info?api_key=${asked}`))).status
    expect(await asks(key)).toBe(200)
    expect(await page.textContent('#keys')).toContain(`Shop <b>1</b>…${key.slice(-4)}`)

    const revoke = page.getByLabel('Revoke the key Shop <b>1</b>')
    await revoke.click()
    expect(await page.textContent('#question-text')).toContain(
      `"Shop <b>1</b>", which ends with ${key.slice(-4)}`,
    )
    await page.keyboard.press('Enter')
    await page.locator('#question').waitFor({ state: 'hidden' })
    expect(await asks(key)).toBe(200)
    await page.keyboard.press('Enter')
    await page.click('#question-yes')
    await page.locator('#keys-status', { hasText: 'is revoked.' }).waitFor()
    expect([await asks(key), await asks(first)]).toEqual([401, 200])
    expect(await page.content()).not.toContain(key)
    await expectHidden(tab, [key, first, password])

    await page.getByLabel('Revoke the key default').click()
    await page.click('#question-yes')
    await page.locator('#keys-status', { hasText: 'last key of the account' }).waitFor()
    expect(problemsOf(tab)).toEqual([])
  })

  it('signs another browser out, and says so there', async () => {
    const { email } = await people.signUp('two-browsers@example.com')
    const phone = await people.signIn(email, { userAgent: 'Mozilla/5.0 (iPhone) Safari/604' })
    const own = await people.signIn(email)
    await own.page.getByLabel('Sign out Safari on iPhone').click()
    await own.page.locator('#sessions-status', { hasText: 'Safari on iPhone is signed out.' }).waitFor()
    expect(await own.page.locator('#sessions li').count()).toBe(1)
    // The person comes back to the window.
    await phone.page.evaluate("dispatchEvent(new Event('focus'))")
    await phone.page.waitForURL(people.urlOf('/sign-in'))

    const others = [await people.signIn(email), await people.signIn(email)]
    await own.page.reload()
    await own.page.click('#end-others')
    await own.page.locator('#sessions-status', { hasText: 'All other browsers are signed out.' }).waitFor()
    for (const { page } of others) {
      await page.reload()
      await page.waitForURL(people.urlOf('/sign-in'))
    }
    await own.page.reload()
    await own.untilStatus('You are signed in.')
  })

  it('changes the password, which signs other browsers out', async () => {
    const { email } = await people.signUp('new-password@example.com')
    const other = await people.signIn(email)
    const tab = await people.signIn(email)
    const { page } = tab
    await page.click('text=Change the password')
    const change = async (old: string) => {
      await page.fill('#old-password', old)
      await page.fill('#new-password', 'staple correct horse')
      await page.keyboard.press('Enter')
    }
    await change('short')
    await page.locator('#password-status', { hasText: 'The password is wrong.' }).waitFor()
    await change(password)
    await page.locator('#password-status', { hasText: 'The password is changed.' }).waitFor()
    await other.page.reload()
    await other.page.waitForURL(people.urlOf('/sign-in'))
    await page.reload()
    await tab.untilStatus('You are signed in.')
    await submitSignIn(other.page, email, 'staple correct horse')
    await other.page.waitForURL(people.urlOf('/account'))
  })

  it('changes the address with a link to the new one, which needs no password', async () => {
    const { email } = await people.signUp('old-address@example.com')
    const tab = await people.signIn(email)
    await tab.page.click('text=Change the email address')
    await tab.page.fill('#new-email', 'new-address@example.com')
    await tab.page.fill('#address-password', password)
    await tab.page.keyboard.press('Enter')
    await tab.page.locator('#address-status', { hasText: 'Look into the mailbox' }).waitFor()
    const link = await people.open(await people.linkTo('new-address@example.com'))
    await link.page.click('#continue')
    await link.page.locator('#changed-view', { hasText: 'new-address@example.com' }).waitFor()
    await tab.page.reload()
    await tab.page.locator('#account-email', { hasText: 'new-address@example.com' }).waitFor()
  })

  it('leads to the page for sign-in when nobody is signed in, also after a sign-out', async () => {
    const { email } = await people.signUp('leaving@example.com')
    const tab = await people.signIn(email)
    await tab.page.click('#sign-out')
    await tab.page.waitForURL(people.urlOf('/sign-in'))
    await tab.page.goto(people.urlOf('/account'))
    await tab.page.waitForURL(people.urlOf('/sign-in'))
    expect(await tab.page.evaluate('document.cookie')).toBe('')
  })

  it.each(['light', 'dark'] as const)(
    'fits a narrow phone and is accessible, in the %s',
    async (colorScheme) => {
      const { email } = await people.signUp(`narrow-${colorScheme}@example.com`)
      const tab = await people.signIn(email, { colorScheme, viewport: { width: 320, height: 640 } })
      await tab.page.fill(
        '#key-name',
        `A shop with a rather long name, which has no end and ${'OneWord'.repeat(19)}`,
      )
      await tab.page.keyboard.press('Enter')
      await tab.page.locator('#new-key-view').waitFor()
      for (const summary of await tab.page.locator('summary').all()) await summary.click()
      await expectAccessible(tab, `account-${colorScheme}`)
      await tab.page.getByLabel('Revoke the key default').click()
      await expectAccessible(tab, `question-${colorScheme}`)
      expect(problemsOf(tab)).toEqual([])
    },
  )
})
