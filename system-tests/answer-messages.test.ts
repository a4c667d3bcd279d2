import { randomBytes } from 'node:crypto'
import { freePort } from '@wagate/local-servers/free-port'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { languages, startAnsweringProgram } from './answering-program.ts'

type ReceivedEvent = { event_id: string; data: { message: { number: string; wa_message_id: string } } }

const sender = '15550800001'
const wave = '\u{1f44b}'

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

/** Resolves to the event of the message. Each contact writes once. */
async function write(contact: string, text: string): Promise<ReceivedEvent> {
  await gateway.control(`/chats/${contact}/send`, { to: sender, text })
  return until('the event of the message', async () => {
    const { body } = await gateway.get('events?types=message.received')
    return (body.events as ReceivedEvent[]).find(({ data }) => data.message.number === contact)
  })
}

const answersTo = async (contact: string) => (await gateway.phone(contact, sender)).map(({ text }) => text)
const untilAnswered = (contact: string) =>
  until(`${contact} has an answer`, async () => (await answersTo(contact)).length > 0)

const makeSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000)

/** Headers of an implementation that is not ours. */
function sign(secret: string, { event_id }: ReceivedEvent, body: string, at = new Date()) {
  return {
    'webhook-id': event_id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(event_id, at, body),
  }
}

for (const [index, language] of languages.entries()) {
  const title = `the example that answers messages, in ${language.name}`
  describe.skipIf(!language.isInstalled)(language.isInstalled ? title : `${title}, which is not here`, () => {
    const contact = (number: number) => `1555081${index}00${number}`

    async function start(secret: string, given: { apiKey?: string; port?: number } = {}) {
      const apiKey = given.apiKey ?? String((await gateway.call('create-key')).body.api_key)
      const port = given.port ?? (await freePort())
      return startAnsweringProgram(language, { port, apiUrl: system.devnet.apiUrl, apiKey, secret })
    }

    it('answers what a webhook delivers, quoting it', async () => {
      const port = await freePort()
      const webhook = { url: `http://127.0.0.1:${port}/`, types: 'message.received' }
      const { body: created } = await gateway.call('set-webhook', webhook)
      onTestFinished(async () => {
        await gateway.call('delete-webhook', { webhook_id: created.webhook_id })
      })
      await start(String(created.secret), { port })
      const { data } = await write(contact(8), 'Hello')
      await untilAnswered(contact(8))
      expect(await gateway.phone(contact(8), sender)).toMatchObject([
        {
          text: 'Thank you for your message.',
          quoted: { wa_message_id: data.message.wa_message_id, text: 'Hello' },
        },
      ])
    })

    it('answers a question for the price, whatever characters it has', async () => {
      const secret = makeSecret()
      const program = await start(secret)
      const question = await write(contact(1), `"What" is the PRICE? ${wave}`)
      const body = JSON.stringify(question)
      expect(await program.deliver(sign(secret, question, body), body)).toBe(204)
      await untilAnswered(contact(1))
      expect(await answersTo(contact(1))).toEqual(['The price is 12.50 EUR.'])
    })

    it('refuses what the gateway has not signed, and what it signed long ago', async () => {
      const secret = makeSecret()
      const program = await start(secret)
      const event = await write(contact(4), 'Who are you?')
      const body = JSON.stringify(event)
      const right = sign(secret, event, body)
      const time = right['webhook-timestamp']
      const refused = {
        'another secret': sign(makeSecret(), event, body),
        'another body': sign(secret, event, `${body} `),
        'another id': { ...right, 'webhook-id': 'evt_other' },
        'another time': { ...right, 'webhook-timestamp': String(Number(time) + 1) },
        'six minutes ago': sign(secret, event, body, minutesFromNow(-6)),
        'in six minutes': sign(secret, event, body, minutesFromNow(6)),
        'no time': { ...right, 'webhook-timestamp': '' },
        'no signature': { 'webhook-id': event.event_id, 'webhook-timestamp': time },
      }
      for (const [reason, headers] of Object.entries(refused))
        expect(await program.deliver(headers, body), reason).toBe(401)
      const two = `${refused['another secret']['webhook-signature']} ${right['webhook-signature']}`
      expect(await program.deliver({ ...right, 'webhook-signature': two }, body)).toBe(204)
      await untilAnswered(contact(4))
      await gateway.deliver(sender, contact(4), 'later')
      expect(await answersTo(contact(4))).toEqual(['Thank you for your message.', 'later'])
    })

    it('answers once what is delivered again, also at the same time and after a crash', async () => {
      const secret = makeSecret()
      const program = await start(secret)
      const event = await write(contact(5), 'Once')
      const body = JSON.stringify(event)
      const deliver = () => program.deliver(sign(secret, event, body), body)
      expect(await Promise.all([deliver(), deliver()])).toEqual([204, 204])
      await program.restart()
      expect(await deliver()).toBe(204)
      await gateway.deliver(sender, contact(5), 'later')
      expect(await answersTo(contact(5))).toEqual(['Thank you for your message.', 'later'])
    })

    it('lets an event come again whose answer the gateway refuses', async () => {
      const secret = makeSecret()
      const { body: created } = await gateway.call('create-key')
      const program = await start(secret, { apiKey: String(created.api_key) })
      await gateway.call('revoke-key', { key_id: created.key_id })
      const event = await write(contact(6), 'Hello')
      const body = JSON.stringify(event)
      expect(await program.deliver(sign(secret, event, body), body)).toBe(502)
    })
  })
}
