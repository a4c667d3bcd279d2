import { findPairing, requestPairing } from '@wagate/db/queries/devices/device-desired-state'
import { makeDeviceEvents } from '@wagate/queue/device-events'
import { openRedisLinks } from '@wagate/queue/redis-links'
import { makeLogger } from '@wagate/runtime/logger'
import { testRedisUrl } from '@wagate/test-kit/servers/test-database'
import { expect, test } from 'vitest'
import type { DeviceContext } from '../src/device/device-context.ts'
import type { DeviceScope } from '../src/device/device-scope.ts'
import { makeDevicePasskey } from '../src/device/passkey.ts'
import { openOwnedDevice } from './owned-device.ts'

test('whoever reads that a passkey is required finds the challenge', async () => {
  const { db, accountId, id, owned, drop } = await openOwnedDevice()
  const links = openRedisLinks(await testRedisUrl(), { onError: () => undefined })
  const events = makeDeviceEvents(links)
  const stepOf = async () => (await findPairing(db, accountId, id))?.step
  const stepsBefore: unknown[] = []
  const retain: typeof events.retain = async (...given) => {
    stepsBefore.push(await stepOf())
    await events.retain(...given)
  }
  await requestPairing(db, accountId, id, { pairingMs: 60_000, force: false })
  const [device] = await db.$client<{ desiredRev: number }[]>`
    SELECT desired_rev AS "desiredRev" FROM devices WHERE id = ${id}`
  const context = {
    db,
    events: { ...events, retain },
    config: { passkey: { assertionMs: 60_000, confirmationMs: 60_000 } },
  } as DeviceContext
  const lease = { ...owned, isValid: () => true }
  const scope = { context, id, lease, logger: makeLogger('test', 'silent') } as DeviceScope
  const passkey = makeDevicePasskey(scope, {
    desiredRev: device?.desiredRev ?? 0,
    link: () => expect.fail('There is nothing to answer'),
  })

  await passkey.ask({ challenge: 'mPz0' })
  expect(stepsBefore).toEqual([null])
  expect(await stepOf()).toBe('passkey_required')
  expect(await events.findPasskey(id)).toMatchObject({ options: '{"challenge":"mPz0"}', epoch: owned.epoch })
  await links.close()
  await drop()
})
