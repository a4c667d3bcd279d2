import type { System } from '../system.ts'
import { until } from '../until.ts'
import { inLanes } from './in-lanes.ts'

/** A first login makes 812 keys: more at the same time would only make each take longer. */
const lanes = 3
const attemptsMax = 3

/** Links those that are not linked yet, each through its own QR code, and waits until all are online. */
export async function linkSenders(
  system: Pick<System, 'gateway' | 'phones' | 'records'>,
  senders: string[],
): Promise<void> {
  const { records } = system
  const linked = new Set(await records.listLinkedSenders())
  const unlinked = senders.filter((sender) => !linked.has(sender))
  await inLanes(unlinked, lanes, (sender) => linkSender(system, sender))
  await until('all senders are online', { withinMs: 120_000, everyMs: 100 }, async () => {
    return (await records.countOnline()) >= senders.length
  })
}

/** A busy machine may need a second attempt: no QR code in time, or a lease that lapsed while it was scanned. */
async function linkSender(
  { gateway, phones }: Pick<System, 'gateway' | 'phones'>,
  sender: string,
): Promise<void> {
  let failure: unknown
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    try {
      const { status, body } = await gateway.call('generate-qr', { sender })
      if (body.code === 'already_connected') return
      if (status !== 200) throw new Error(`No QR code for ${sender}: ${JSON.stringify(body)}`)
      return await phones.scan(String(body.qr_text), sender)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
