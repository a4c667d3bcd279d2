import { setTimeout as delay } from 'node:timers/promises'
import { inLanes } from '@wagate/test-kit/load/in-lanes'
import { recipientOf } from '@wagate/test-kit/load/numbers'
import type { System } from '@wagate/test-kit/system'

/** How a program sends. `perSecond`: at this pace, else as soon as one of `atOnce` requests has its answer. */
export type Way = { name: string; wait: boolean; atOnce: number; perSecond?: number; messages: number }

const waitSeconds = 25

/** Returns how long each request took, in ms. */
export async function sendTexts(
  { gateway }: Pick<System, 'gateway'>,
  senders: string[],
  { wait, atOnce, perSecond, messages }: Way,
): Promise<number[]> {
  const tookMs: number[] = []
  const startedMs = performance.now()

  async function send(index: number): Promise<void> {
    if (perSecond) await delay(startedMs + (index * 1000) / perSecond - performance.now())
    const sender = senders[index % senders.length] ?? ''
    const askedMs = performance.now()
    const { status, body } = await gateway.call('send-message', {
      sender,
      number: recipientOf(sender, Math.floor(index / senders.length)),
      message: `Message ${index}`,
      ...(wait && { wait: waitSeconds }),
    })
    tookMs.push(performance.now() - askedMs)
    if (status !== 200) throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`)
    if (wait && !hasLeft(body.status)) throw new Error(`Not sent after ${waitSeconds} s: ${body.status}`)
  }

  await inLanes(
    Array.from({ length: messages }, (_, index) => index),
    atOnce,
    send,
  )
  return tookMs
}

const hasLeft = (status: unknown) => ['sent', 'delivered', 'read'].includes(String(status))
