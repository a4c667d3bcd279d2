import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { isShort } from './size.ts'
import { trial, untilNextSentMs } from './trial.ts'
import type { World } from './world.ts'

export function whatsappFaults(find: () => World): void {
  it('18: WhatsApp drops all connections at once', async () => {
    const world = find()
    const found = await trial(world, '18 all dropped', () => world.fault({ kind: 'drop' }))
    const nextMs = untilNextSentMs(found, world.senders, found.faultAtMs)
    note('18 all dropped', { 'last sender ms': Math.max(...nextMs) })
    expect(Math.max(...nextMs)).toBeLessThan(30_000)
  })

  it.skipIf(isShort)('20: acknowledgements are lost and late', async () => {
    const world = find()
    await trial(world, '20 acks lost and late', async () => {
      await world.fault({ kind: 'ack_drop', share: 0.05 })
      await world.fault({ kind: 'ack_delay', share: 0.05, ms: 30_000 })
      await delay(15_000)
      await world.phones.clearFaults()
    })
  })

  it.skipIf(isShort)('21: connections go silent', async () => {
    const world = find()
    const found = await trial(world, '21 half-open', () => world.fault({ kind: 'half_open' }))
    const nextMs = untilNextSentMs(found, world.senders, found.faultAtMs)
    note('21 half-open', { 'last sender ms': Math.max(...nextMs) })
  })
}
