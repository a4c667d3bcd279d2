import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient
let numbers = 0

beforeAll(async () => {
  system = await openTestSystem({
    environment: { OUTBOX_POLL_MS: '500', NEW_CONTACTS_PER_DAY: '0', SEND_RECIPIENT_INTERVAL_MS: '0' },
  })
  gateway = system.gateway
}, 60_000)
afterEach(() => system?.phones.clearFaults())
afterAll(() => system?.close(), 30_000)

const newNumber = () => `155516${10_000 + ++numbers}`

async function linked(): Promise<string> {
  const sender = newNumber()
  await gateway.link(sender)
  return sender
}

it.each(['message_limit', 'key_limit', 'lookup_limit'] as const)(
  'messages beyond the %s of WhatsApp leave later, once and in order, and those of other senders meanwhile',
  async (kind) => {
    const [limited, other] = [await linked(), await linked()]
    await system.phones.fault({ kind, sender: limited, size: 2, ms: 1000 })
    const recipients = Array.from({ length: 5 }, newNumber)
    const sent = new Map<string, string[]>()
    for (const text of ['first', 'second']) {
      for (const number of recipients) {
        await gateway.send(limited, number, text)
        sent.set(number, [...(sent.get(number) ?? []), text])
      }
    }
    await gateway.deliver(other, newNumber())
    const arrived = (number: string) => gateway.phone(number)
    for (const [number, texts] of sent) {
      await until(`${number} has its messages`, { withinMs: 90_000, everyMs: 100 }, async () => {
        return (await arrived(number)).length === texts.length
      })
      expect((await arrived(number)).map(({ text, duplicates }) => [text, duplicates])).toEqual(
        texts.map((text) => [text, 0]),
      )
    }
    const refused = (await system.phones.log()).filter(
      ({ sender, ack }) => sender === limited && ack === '429',
    )
    expect(refused.length > 0).toBe(kind === 'message_limit')
  },
  120_000,
)

it('logins beyond the limit of WhatsApp come back after pauses, and the message that waits leaves', async () => {
  const sender = await linked()
  await system.phones.fault({ kind: 'login_limit', sender, size: 1, ms: 3000 })
  await gateway.call('restart-session', { sender })
  await gateway.call('restart-session', { sender })
  await gateway.deliver(sender, newNumber())
  const results = (await system.phones.logins()).filter((login) => login.sender === sender)
  expect(results.map(({ result }) => result)).toContain('429')
  expect(results.at(-1)?.result).toBe('ok')
}, 60_000)
