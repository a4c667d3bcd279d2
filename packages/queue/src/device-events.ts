import {
  type DeviceEvent,
  deviceEventSchema,
  type PasskeyEvent,
  type QrEvent,
} from '@wagate/shared/device-events'
import type { Leave } from './channels.ts'
import { checkRedis } from './redis.ts'
import type { RedisLinks } from './redis-links.ts'

export type DeviceEvents = {
  /**
   * Best effort: an event that cannot be published is lost, and the error is reported to `onError`. Resolves to the number of
   * processes that have received it.
   */
  publish(deviceId: number, event: DeviceEvent): Promise<number>
  /** Resolves to the function that ends the subscription. Rejects without Redis. */
  subscribe(deviceId: number, listener: (event: DeviceEvent) => void): Promise<Leave>
  /** How often the connection of the subscriptions was lost so far. Events were missed meanwhile. */
  countLosses(): number
  /** Stores what a person has to do next to link the device, until it expires. Best effort. */
  retain(deviceId: number, event: QrEvent | PasskeyEvent): Promise<void>
  /** Rejects without Redis. The caller compares the epoch with the shard's lease. */
  findQr(deviceId: number): Promise<QrEvent | undefined>
  /** The same. */
  findPasskey(deviceId: number): Promise<PasskeyEvent | undefined>
  clearQr(deviceId: number): Promise<void>
  /** Remembers which pairing code a caller has got, until it expires. Best effort. */
  noteCode(deviceId: number, noted: NotedCode): Promise<void>
  /** Rejects without Redis. */
  findNotedCode(deviceId: number): Promise<string | undefined>
  /** The next code counts as another one. Best effort. */
  forgetCode(deviceId: number): Promise<void>
  /** Leaves an assertion for the owner of the device, for a minute. Rejects without Redis. */
  leaveAssertion(deviceId: number, assertion: string): Promise<void>
  /** Returns it once. */
  takeAssertion(deviceId: number): Promise<string | null>
  /** Makes all workers poll the leases now. Best effort. */
  publishShardsChanged(): Promise<void>
  /** Never fails. Without Redis, the listener receives events once Redis is back. */
  onShardsChanged(listener: () => void): Leave
  /** For readiness. Resolves to `ok` or to the problem, within 2 s. */
  checkRedis(): Promise<string>
}

/** `hash` tells codes apart, without the code. */
type NotedCode = { hash: string; expiresAtMs: number }

const shardsChannel = 'wa:shards'
const deviceChannel = (deviceId: number) => `wa:device:${deviceId}`
const qrKey = (deviceId: number) => `wa:device:${deviceId}:qr`
const codeKey = (deviceId: number) => `wa:device:${deviceId}:code`
const assertionKey = (deviceId: number) => `wa:device:${deviceId}:assertion`
const assertionMs = 60_000

export function makeDeviceEvents({
  requests: redis,
  connected,
  channels,
  onError,
}: RedisLinks): DeviceEvents {
  async function attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      await connected
      return await work()
    } catch (error) {
      onError(error as Error)
      return undefined
    }
  }

  async function findRetained(deviceId: number): Promise<DeviceEvent | undefined> {
    await connected
    const text = await redis.get(qrKey(deviceId))
    return deviceEventSchema.safeParse(JSON.parse(text ?? 'null')).data
  }

  return {
    publish: async (deviceId, event) =>
      (await attempt(() => redis.publish(deviceChannel(deviceId), JSON.stringify(event)))) ?? 0,

    subscribe: (deviceId, listener) =>
      channels.subscribe(deviceChannel(deviceId), (message) => {
        const event = deviceEventSchema.safeParse(JSON.parse(message))
        // A newer version may publish kinds that this one does not know.
        if (event.success) listener(event.data)
      }),

    countLosses: channels.countLosses,

    async retain(deviceId, event) {
      const lifeMs = Math.floor(event.expiresAtMs - Date.now())
      if (lifeMs <= 0) return
      await attempt(() => redis.set(qrKey(deviceId), JSON.stringify(event), 'PX', lifeMs))
    },

    async findQr(deviceId) {
      const event = await findRetained(deviceId)
      return event?.kind === 'qr' ? event : undefined
    },

    async findPasskey(deviceId) {
      const event = await findRetained(deviceId)
      return event?.kind === 'passkey' ? event : undefined
    },

    async noteCode(deviceId, { hash, expiresAtMs }) {
      const lifeMs = Math.floor(expiresAtMs - Date.now())
      if (lifeMs > 0) await attempt(() => redis.set(codeKey(deviceId), hash, 'PX', lifeMs))
    },

    async findNotedCode(deviceId) {
      await connected
      return (await redis.get(codeKey(deviceId))) ?? undefined
    },

    async forgetCode(deviceId) {
      await attempt(() => redis.del(codeKey(deviceId)))
    },

    async leaveAssertion(deviceId, assertion) {
      await connected
      await redis.set(assertionKey(deviceId), assertion, 'PX', assertionMs)
    },

    async takeAssertion(deviceId) {
      await connected
      return redis.getdel(assertionKey(deviceId))
    },

    async clearQr(deviceId) {
      await attempt(() => redis.del(qrKey(deviceId)))
    },
    async publishShardsChanged() {
      await attempt(() => redis.publish(shardsChannel, ''))
    },
    onShardsChanged: (listener) => channels.join(shardsChannel, () => listener()),

    async checkRedis() {
      await connected
      return checkRedis(redis)
    },
  }
}
