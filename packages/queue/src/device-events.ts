import type { Running } from '@wagate/runtime/running'
import { type DeviceEvent, deviceEventSchema, type QrEvent } from '@wagate/shared/device-events'
import { type Leave, openChannels } from './channels.ts'
import { checkRedis, connectForRequests, firstAttempt, type OnRedisError } from './redis.ts'

export type DeviceEvents = Running & {
  /** Best effort: an event that cannot be published is lost, and the error is reported to `onError`. */
  publish(deviceId: number, event: DeviceEvent): Promise<void>
  /** Resolves to the function that ends the subscription. Rejects without Redis. */
  subscribe(deviceId: number, listener: (event: DeviceEvent) => void): Promise<Leave>
  /** Stores a QR code for later requests until it expires. Best effort. */
  retainQr(deviceId: number, event: QrEvent): Promise<void>
  /** Rejects without Redis. The caller compares the epoch with the shard's lease. */
  findQr(deviceId: number): Promise<QrEvent | undefined>
  clearQr(deviceId: number): Promise<void>
  /** Makes all workers poll the leases now. Best effort. */
  publishShardsChanged(): Promise<void>
  /** Never fails. Without Redis, the listener receives events once Redis is back. */
  onShardsChanged(listener: () => void): Leave
  /** For readiness. Resolves to `ok` or to the problem, within 2 s. */
  checkRedis(): Promise<string>
}

const shardsChannel = 'wa:shards'
const deviceChannel = (deviceId: number) => `wa:device:${deviceId}`
const qrKey = (deviceId: number) => `wa:device:${deviceId}:qr`

/** Opens two connections: one to publish and one to subscribe. */
export function openDeviceEvents(redisUrl: string, { onError }: { onError: OnRedisError }): DeviceEvents {
  const redis = connectForRequests(redisUrl, onError)
  const connected = firstAttempt(redis)
  const channels = openChannels(redisUrl, onError)

  async function attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await connected
      await work()
    } catch (error) {
      onError(error as Error)
    }
  }

  return {
    publish: (deviceId, event) =>
      attempt(() => redis.publish(deviceChannel(deviceId), JSON.stringify(event))),

    subscribe: (deviceId, listener) =>
      channels.subscribe(deviceChannel(deviceId), (message) => {
        const event = deviceEventSchema.safeParse(JSON.parse(message))
        // A newer version may publish kinds that this one does not know.
        if (event.success) listener(event.data)
      }),

    async retainQr(deviceId, event) {
      const lifeMs = Math.floor(event.expiresAtMs - Date.now())
      if (lifeMs <= 0) return
      await attempt(() => redis.set(qrKey(deviceId), JSON.stringify(event), 'PX', lifeMs))
    },

    async findQr(deviceId) {
      await connected
      const text = await redis.get(qrKey(deviceId))
      const event = deviceEventSchema.safeParse(JSON.parse(text ?? 'null'))
      return event.success && event.data.kind === 'qr' ? event.data : undefined
    },

    clearQr: (deviceId) => attempt(() => redis.del(qrKey(deviceId))),
    publishShardsChanged: () => attempt(() => redis.publish(shardsChannel, '')),
    onShardsChanged: (listener) => channels.join(shardsChannel, () => listener()),

    async checkRedis() {
      await connected
      return checkRedis(redis)
    },

    async close() {
      redis.disconnect()
      await channels.close()
    },
  }
}
