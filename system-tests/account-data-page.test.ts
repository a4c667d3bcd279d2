import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { password, problemsOf, submitSignIn, usePeople } from './account-page.ts'
import { browserPath } from './link-page.ts'

const title = browserPath ? 'the page of an account' : 'the page of an account, without Chromium here'
describe.skipIf(!browserPath)(title, () => {
  const people = usePeople()

  it('gives the data of the account as a file', async () => {
    const { email } = await people.signUp('export@example.com')
    const tab = await people.signIn(email)
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.page.click('#export')])
    expect(download.suggestedFilename()).toMatch(/^wagate-account-\d+\.ndjson$/)
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n')
    for (const line of lines) expect(JSON.parse(line)).toBeTypeOf('object')
    expect(lines.join('\n')).toContain(email)
    await tab.page.locator('#export-status', { hasText: 'The file is complete.' }).waitFor()
    expect(problemsOf(tab)).toEqual([])
  })

  it('gives no file of the data if its end is missing', async () => {
    const { email } = await people.signUp('broken-export@example.com')
    const tab = await people.signIn(email)
    // As a proxy may that loses the connection to the gateway.
    await tab.page.route('**/export-account', async (route) => {
      const response = await route.fetch()
      const [first = ''] = (await response.text()).split('\n')
      await route.fulfill({ response, body: `${first}\n` })
    })
    await tab.page.click('#export')
    await tab.page.locator('#export-status', { hasText: 'The file has broken off.' }).waitFor()
  })

  it('deletes the account with its password only, and shows the proof once', async () => {
    const { email } = await people.signUp('deletion@example.com')
    const tab = await people.signIn(email)
    const { page } = tab
    await page.click('text=Delete the account')
    await page
      .locator('#deletion-when', { hasText: '7 days later, everything of the account is deleted.' })
      .waitFor()
    await page.fill('#deletion-password', 'not the password')
    await page.keyboard.press('Enter')
    await page.locator('#deletion-status', { hasText: 'The password is wrong.' }).waitFor()
    await page.fill('#deletion-password', password)
    await page.keyboard.press('Enter')
    await tab.untilStatus('You are signed out.')
    expect(await page.textContent('#deleted-view')).toContain('the operator of the gateway can undo it')
    const proof = String(await page.textContent('#proof'))
    const answer = await fetch(people.urlOf('/deletion-proof'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ proof }),
    })
    expect(await answer.json()).toMatchObject({ ok: true, state: 'waiting' })

    await page.reload()
    await page.locator('#sign-in-again, #sign-in-form').filter({ visible: true }).first().waitFor()
    expect(await page.content()).not.toContain(proof)
    await page.goto(people.urlOf('/sign-in'))
    await submitSignIn(page, email, password)
    await tab.untilStatus('This account is disabled, or is being deleted. Ask the operator of the gateway.')
    expect(problemsOf(tab)).toEqual([])
  })
})
