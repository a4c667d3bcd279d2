import { makeRandom } from '@wagate/test-kit/random'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { apiFaults } from './api.ts'
import { clockFaults } from './clock.ts'
import { linkFaults } from './links.ts'
import { mediaFaults } from './media.ts'
import { mixedFaults } from './mix.ts'
import { postgresFaults } from './postgres.ts'
import { redisFaults } from './redis.ts'
import { seed, size } from './size.ts'
import { streamFaults } from './streams.ts'
import { webhookFaults } from './webhooks.ts'
import { whatsappFaults } from './whatsapp.ts'
import { workerFaults } from './workers.ts'
import { openWorld, type World } from './world.ts'

let world: World | undefined

beforeAll(async () => {
  world = await openWorld(size, makeRandom(seed))
}, 300_000)
beforeEach(() => theWorld().recover(), 200_000)
afterAll(() => world?.close(), 60_000)

function theWorld(): World {
  if (!world) throw new Error('The system did not come up')
  return world
}

describe('no message is lost, doubled, out of order or reported wrongly when', () => {
  workerFaults(theWorld)
  apiFaults(theWorld)
  clockFaults(theWorld)
  redisFaults(theWorld)
  postgresFaults(theWorld)
  linkFaults(theWorld)
  whatsappFaults(theWorld)
  streamFaults(theWorld)
  mediaFaults(theWorld)
  webhookFaults(theWorld)
  mixedFaults(theWorld)
})
