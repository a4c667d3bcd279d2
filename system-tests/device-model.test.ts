import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import fc from 'fast-check'
import { afterAll, beforeAll, it } from 'vitest'
import { type DeviceModel, expectStatus, type RealDevice, type Step, step, steps } from './device-model.ts'

let system: TestSystem
let senders = 0
let workers = 1

beforeAll(async () => {
  const environment = { PAIRINGS_PER_ACCOUNT_MAX: '1000', PAIRINGS_MAX: '1000' }
  system = await openTestSystem({ workers, environment })
}, 60_000)

afterAll(() => system?.close(), 30_000)

const replaceWorker = step(
  'another worker takes over',
  ({ status }) => workers < 4 && (status === 'connected' || status === 'scanning'),
  async (model, real) => {
    await system.devnet.start(`worker-${workers + 1}`)
    await system.devnet.stop(`worker-${workers}`)
    workers++
    await system.devnet.waitUntilReady()
    // The session that showed the QR code has ended. The new owner shows another one.
    model.isScannable = false
    await expectStatus(real, model.status)
  },
)

function histories(of: Step[], maxCommands: number) {
  const arbitraries = of.map((one) => fc.constant(one))
  return fc.commands(arbitraries, { maxCommands, size: 'max' })
}

async function run(commands: Iterable<Step>): Promise<void> {
  const sender = `1555090${1000 + senders++}`
  const real: RealDevice = { gateway: system.gateway, sender, qr: undefined, scheduled: [] }
  await fc.asyncModelRun(
    () => ({ model: { status: 'unknown', isScannable: false } satisfies DeviceModel as DeviceModel, real }),
    commands,
  )
}

it('a device is what its commands, its phone and its workers have made of it', async () => {
  await fc.assert(fc.asyncProperty(histories([...steps, replaceWorker], 25), run), {
    numRuns: 4,
    seed: 14,
    endOnFailure: true,
  })
}, 120_000)

it('many devices at a time are what their commands and their phones have made of them', async () => {
  const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31)
  const together = fc.array(histories(steps, 15), { minLength: 10, maxLength: 10 })
  const property = fc.asyncProperty(together, async (all) => {
    await Promise.all(all.map(run))
  })
  await fc.assert(property, { numRuns: 5, seed, endOnFailure: true })
}, 240_000)
