import { randomUUID } from 'node:crypto'
import { makeMessageId } from '@wagate/shared/ids'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BlockReason, listWaitingMessages } from '../src/queries/messages/waiting-messages.ts'
import { openOwnedDevices } from './owned-devices.ts'

let devices: Awaited<ReturnType<typeof openOwnedDevices>>

beforeAll(async () => {
  devices = await openOwnedDevices()
})
afterAll(() => devices.drop())

type Row = { number: string; type?: string; status?: string; sentAt?: string; uploaded?: boolean }

async function insert(deviceId: number, row: Row): Promise<void> {
  await devices.db.$client`
    INSERT INTO messages (id, account_id, device_id, direction, type, sender, number, body, status, wa_id,
      link_generation, sent_at, uploaded_content)
    VALUES (${makeMessageId('1')}, ${devices.accountId}, ${deviceId}, 'out', ${row.type ?? 'text'}, '1', ${row.number},
      'x', ${row.status ?? 'queued'}, ${randomUUID()}, 1, ${row.sentAt ?? null}, ${row.uploaded ? Buffer.from('x') : null})`
}

it('lists waiting messages in their order, without blocked ones and those behind them', async () => {
  const { deviceId: id } = await devices.addLinkedDevice()
  const { db } = devices
  await insert(id, { number: 'known', status: 'sent', sentAt: new Date().toISOString() })
  await db.$client`
    INSERT INTO device_auth (device_id, type, id, value, used_on) VALUES
      (${id}, 'token-holder', 'giver', '', CURRENT_DATE - 27), (${id}, 'token-holder', 'mixed', '', CURRENT_DATE - 28)`
  const rows: Row[] = [
    { number: 'known' },
    { number: 'giver' },
    { number: 'media', type: 'image' },
    { number: 'media' },
    { number: 'ready', type: 'image', uploaded: true },
    { number: 'mixed' },
    { number: 'mixed', type: 'video' },
    { number: 'mixed' },
    { number: 'unanswered', status: 'sending' },
    { number: 'unanswered' },
    { number: 'known' },
    { number: '5511987654321', type: 'image' },
    { number: '551187654321' },
  ]
  for (const row of rows) await insert(id, row)
  const list = async (without: BlockReason[], exceptNumbers: string[] = []) =>
    (await listWaitingMessages(db, id, { except: [], exceptNumbers, without, limit: 64 })).map(
      ({ number }) => number,
    )
  expect(await list([])).toEqual(rows.map(({ number }) => number))
  expect(await list(['unprepared'])).toEqual([
    ...['known', 'giver', 'ready', 'mixed', 'unanswered', 'unanswered', 'known'],
  ])
  expect(await list(['attempted', 'unprepared'], ['ready'])).toEqual([
    ...['known', 'giver', 'mixed', 'known'],
  ])
  expect(await list(['newContacts', 'attempted', 'unprepared'])).toEqual(['known', 'giver', 'known'])
  expect(await list(['newContacts'])).toEqual(['known', 'giver', 'known'])
})
