import { inLanes } from './in-lanes.ts'
import type { System } from './system.ts'
import { until } from './until.ts'

const lanes = 8
/** A busy machine may need several of the API's own timeouts. */
const patience = { withinMs: 60_000, everyMs: 500 }

/** Links those that are not linked yet, each through its own QR code, and waits until all are online. */
export async function linkSenders(
  { gateway, phones, records }: Pick<System, 'gateway' | 'phones' | 'records'>,
  senders: string[],
): Promise<void> {
  async function fetchQr(sender: string): Promise<string | undefined> {
    const { status, body } = await gateway.call('generate-qr', { sender })
    if (status === 200) return String(body.qr_text)
    if (body.code === 'qr_timeout') return undefined
    throw new Error(`No QR code for ${sender}: ${JSON.stringify(body)}`)
  }

  const linked = new Set(await records.listLinkedSenders())
  await inLanes(
    senders.filter((sender) => !linked.has(sender)),
    lanes,
    async (sender) => {
      await phones.scan(await until(`a QR code for ${sender}`, patience, () => fetchQr(sender)), sender)
    },
  )
  await until('all senders are online', { withinMs: 120_000, everyMs: 100 }, async () => {
    return (await records.countOnline()) >= senders.length
  })
}
