import { setTimeout as delay } from 'node:timers/promises'
import { whatsAppIdOf } from '@wagate/shared/ids'
import type { Load } from '@wagate/test-kit/load/load'
import type { Sides } from '@wagate/test-kit/load/phone-audit'
import type { World } from './world.ts'

/** The number of messages of the load for each answer and each opened message. */
const messagesPerAnswer = 10

export type People = {
  opened: Set<string>
  written: Sides['written']
  stop(): Promise<void>
}

/** Recipients open messages and write to the senders, also during failures of the gateway. */
export function startPeople(
  world: Pick<World, 'phones' | 'random' | 'senders'>,
  load: Load,
  options: { perSecond: number; name: string },
): People {
  const { phones, random } = world
  const opened = new Set<string>()
  const written: Sides['written'] = []
  const stopping = new AbortController()
  const everyMs = (1000 * messagesPerAnswer) / options.perSecond

  async function answer(): Promise<void> {
    const sender = choose(world.senders)
    const chat = load.sent.find((sent) => sent.sender === sender && sent.messageId !== undefined)
    if (!sender || !chat) return
    const text = `${options.name} answer ${written.length} of ${chat.number}`
    written.push({ sender, text, waId: await phones.write(chat.number, sender, text) })
  }

  async function open(): Promise<void> {
    const sent = choose(load.sent)
    if (sent?.messageId === undefined) return
    const waId = whatsAppIdOf(sent.messageId)
    if (await phones.read(sent.number, waId)) opened.add(waId)
  }

  function choose<Item>(items: Item[]): Item | undefined {
    return items[Math.floor(random() * items.length)]
  }

  async function run(act: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      await act()
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  const running = Promise.all([run(answer), run(open)])
  return {
    opened,
    written,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
