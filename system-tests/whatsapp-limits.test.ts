import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient
let numbers = 0

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
}, 60_000)
afterAll(() => system?.close(), 30_000)

const newNumber = () => `155516${10_000 + ++numbers}`

async function linked(): Promise<string> {
  const sender = newNumber()
  await gateway.link(sender)
  return sender
}

// They wait for the pauses of the gateway, each with senders of its own.
describe.concurrent('a sender at a limit of WhatsApp', () => {
  it.for(['message_limit', 'key_limit', 'lookup_limit'] as const)(
    'messages beyond the %s of WhatsApp leave later, once and in order, and those of other senders meanwhile',
    { timeout: 120_000 },
    async (kind, { expect }) => {
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
  )

  it('logins beyond the limit of WhatsApp come back after pauses, and the message that waits leaves', async ({
    expect,
  }) => {
    const sender = await linked()
    // The two logins of a busy machine can be far apart.
    await system.phones.fault({ kind: 'login_limit', sender, size: 1, ms: 60_000 })
    await gateway.call('restart-session', { sender })
    await gateway.call('restart-session', { sender })
    const id = await gateway.send(sender, newNumber())
    const results = async () => {
      const logins = (await system.phones.logins()).filter((login) => login.sender === sender)
      return logins.map(({ result }) => result)
    }
    await until('a login was refused', async () => (await results()).includes('429'))
    await system.phones.clearFaultsOf(sender)
    await gateway.untilStatus(id, 'delivered')
    expect((await results()).at(-1)).toBe('ok')
  }, 60_000)
})
