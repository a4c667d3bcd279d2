import { randomBytes } from 'node:crypto'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { openGateway } from '@wagate/test-kit/load/pooled-client'

/** Requests with the keys of one account, as many as possible, from a separate process. */
const single = ['texts', 'large bodies', 'waits', 'histories'] as const
export const attacks = [...single, 'mixed'] as const
export type Attack = (typeof attacks)[number]

export type AttackOrder = { apiUrl: string; keys: string[]; sender: string; attack: Attack }

const recipient = '15550199999'
const largeBytes = 16 * 2 ** 20
const requestsAtOnce = 4
/** Refusals are cheap: without a pause the attacker would use up the CPU itself. */
const restMs = 5

let largeUrl: string | undefined

function requestOf(
  attack: Exclude<Attack, 'histories' | 'mixed'>,
  sender: string,
): [string, Record<string, unknown>] {
  const text = { sender, number: recipient }
  switch (attack) {
    case 'texts':
      return ['send-message', { ...text, message: 'x'.repeat(4096) }]
    case 'large bodies':
      largeUrl ??= `data:application/pdf;base64,${randomBytes(largeBytes).toString('base64')}`
      return ['send-media', { ...text, type: 'document', url: largeUrl }]
    case 'waits':
      return ['send-message', { ...text, message: 'x', wait: 25 }]
  }
}

async function run({ apiUrl, keys, sender, attack }: AttackOrder): Promise<void> {
  const historyUrl = `${apiUrl}/messages?limit=200&number=${recipient}`
  await Promise.all(
    keys.map(async (key) => {
      const gateway = openGateway(apiUrl, key, requestsAtOnce)

      async function ask(n: number): Promise<number> {
        const kind = attack === 'mixed' ? single[n % single.length] : attack
        if (!kind) return 0
        if (kind === 'histories') return (await fetch(historyUrl, { headers: { 'x-api-key': key } })).status
        return (await gateway.call(...requestOf(kind, sender))).status
      }

      await Promise.all(
        Array.from({ length: requestsAtOnce }, async (_, lane) => {
          for (let n = lane; ; n++) {
            const status = await ask(n).catch(() => 0)
            process.send?.(status, undefined, undefined, () => undefined)
            await delay(restMs)
          }
        }),
      )
    }),
  )
}

// A real attacker has its own machines, so this process must not take CPU from the gateway.
setPriority(constants.priority.PRIORITY_LOW)
process.on('disconnect', () => process.exit())
if (!process.connected) process.exit()
process.once('message', (order) => void run(order as AttackOrder))
