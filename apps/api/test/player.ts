import { randomBytes } from 'node:crypto'
import { recordMasterKey } from '@wagate/db/queries/credentials/master-keys'
import { makeCommandConsumers } from '@wagate/queue/command-consumers'
import { openRedisLinks } from '@wagate/queue/redis-links'
import type { Command } from '@wagate/shared/commands'
import { makeBoxKey } from '@wagate/shared/sealed-box'
import { type Gateway, ownShards } from './gateway.ts'
import { givePairingCode, showQr } from './play-pairing.ts'

/**
 * Plays a worker that succeeds at once: it shows QR codes, restarts sessions and sends messages. From now on all new
 * devices are in one shard, so that one consumer of commands is enough.
 */
export async function playWorker(
  gateway: Gateway,
  { sends = true } = {},
): Promise<{ close(): Promise<void> }> {
  const { db, events } = gateway
  await ownShards(gateway)
  await recordMasterKey(db, '0badcafe', makeBoxKey(randomBytes(32)).publicKey)
  const sql = db.$client
  await sql`ALTER SEQUENCE devices_id_seq INCREMENT BY 256`
  const [next] = await sql<{ shard: number }[]>`SELECT (nextval('devices_id_seq') % 256)::int AS shard`

  async function sendAll(deviceId: number): Promise<void> {
    const sent = await sql<{ id: string }[]>`
      UPDATE messages SET status = 'sent', sent_at = now()
      WHERE device_id = ${deviceId} AND status = 'queued' AND send_at IS NULL RETURNING id`
    for (const { id } of sent)
      await events.publish(deviceId, { kind: 'message', messageId: id, status: 'sent' })
  }

  async function startSession(deviceId: number): Promise<void> {
    const restarted = await sql`
      UPDATE devices SET connected_session_rev = session_rev
      WHERE id = ${deviceId} AND has_credentials AND session_rev > connected_session_rev RETURNING id`
    if (restarted.length === 0) return showQr(gateway, deviceId, { text: 'played' })
    await events.publish(deviceId, { kind: 'status', connected: true, reason: null })
  }

  const ignore = async (_: Command) => undefined
  const redis = openRedisLinks(gateway.redisUrl, { onError: () => undefined })
  const consumers = makeCommandConsumers(redis, { startMsMax: 20_000 })
  await consumers.start({
    shard: next?.shard ?? 0,
    handlers: {
      send: sends ? ({ deviceId }) => sendAll(deviceId) : ignore,
      'start-session': ({ deviceId }) => startSession(deviceId),
      'end-session': ignore,
      'apply-settings': ignore,
      'submit-passkey': ignore,
      'confirm-passkey': ignore,
      'mark-read': ignore,
      'request-pairing-code': ({ deviceId }) => givePairingCode(gateway, deviceId),
      async 'check-number'({ deviceId, number }) {
        await events.publish(deviceId, { kind: 'number', number, jid: `${number}@s.whatsapp.net` })
      },
    },
    onError: () => undefined,
  })
  return {
    async close() {
      await consumers.close()
      await redis.close()
    },
  }
}
