import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import type { PhoneWriter } from './phone-writer.ts'

export type Phase = { messages: number; ms: number }

/** How far the webhook is. */
type Progress = { writer: PhoneWriter; countDelivered(): number }

const pauseMs = 10
const drainMs = 120_000

/** Keeps this many messages between the phones and the webhook: as fast as the system goes. */
export async function writeAsFastAsDelivered(
  progress: Progress,
  { window, ms, signal }: { window: number; ms: number; signal: AbortSignal },
): Promise<Phase> {
  const { writer, countDelivered } = progress
  const before = countDelivered()
  const startedAt = performance.now()
  while (performance.now() - startedAt < ms) {
    signal.throwIfAborted()
    const room = window - (writer.written.length - countDelivered())
    if (room >= window / 10) await writer.write(room)
    else await delay(pauseMs)
  }
  return { messages: countDelivered() - before, ms: performance.now() - startedAt }
}

/** At a steady rate, whether earlier messages were delivered or not. */
export async function writeSteadily(
  { writer }: Progress,
  { perSecond, ms, signal }: { perSecond: number; ms: number; signal: AbortSignal },
): Promise<Phase> {
  const before = writer.written.length
  const startedAt = performance.now()
  for (let passedMs = 0; passedMs < ms; passedMs = performance.now() - startedAt) {
    signal.throwIfAborted()
    const due = Math.floor((passedMs / 1000) * perSecond) - (writer.written.length - before)
    if (due > 0) await writer.write(due)
    else await delay(pauseMs)
  }
  return { messages: writer.written.length - before, ms: performance.now() - startedAt }
}

/** Until the webhook has all messages, or for two minutes. */
export async function untilAllDelivered({ writer, countDelivered }: Progress): Promise<void> {
  await until('all messages are delivered', { withinMs: drainMs, everyMs: 20 }, () => {
    return countDelivered() >= writer.written.length
  }).catch(() => undefined)
}
