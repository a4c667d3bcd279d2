import { closeDatabase, openDatabase } from '@wagate/db/client'
import { requestUnlink } from '@wagate/db/queries/device-wishes'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDeviceEvents } from '../../packages/queue/src/device-events.ts'
import { type Devnet, startDevnet } from '../src/devnet.ts'
import { makeGatewayClient, until } from './gateway-client.ts'

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>
let senders = 0
let workers = 1

beforeAll(async () => {
  devnet = await startDevnet({ workers, shards: 4, environment: () => ({ SEND_RATE_PER_MINUTE: '0' }) })
  gateway = makeGatewayClient(devnet)
}, 60_000)

afterAll(() => devnet?.close(), 30_000)

/** What a client may expect. */
type Model = { status: 'unknown' | 'disconnected' | 'scanning' | 'connected'; isScannable: boolean }
/** One sender of the gateway and its phone. */
type Real = { sender: string; qr: unknown }
type Step = fc.AsyncCommand<Model, Real>

/** The name is what fast-check prints. */
function step(name: string, isPossible: (model: Model) => boolean, run: Step['run']): Step {
  return { check: isPossible, run, toString: () => name }
}

async function expectStatus({ sender }: Real, status: Model['status']): Promise<void> {
  await until(`${sender} is ${status}`, async () => (await gateway.statusOf(sender)).status === status)
}

function scan({ qr }: Real, number: string): Promise<{ ok: boolean }> {
  return gateway.control('/scan', { qr, number })
}

const createDevice = step(
  'create-device',
  () => true,
  async (model, real) => {
    const answer = await gateway.call('create-device', { sender: real.sender })
    const isNew = model.status === 'unknown'
    if (isNew) model.status = 'disconnected'
    expect(answer).toMatchObject({ status: 200, body: { created: isNew } })
    await expectStatus(real, model.status)
  },
)

const generateQr = (force: boolean) =>
  step(
    force ? 'generate-qr by force' : 'generate-qr',
    () => true,
    async (model, real) => {
      const answer = await gateway.call('generate-qr', { sender: real.sender, force })
      if (model.status === 'connected' && !force) {
        expect(answer).toMatchObject({ status: 409, body: { code: 'already_connected' } })
        return
      }
      expect(answer).toMatchObject({ status: 200, body: { sender: real.sender } })
      Object.assign(model, { status: 'scanning', isScannable: true })
      real.qr = answer.body.qr_text
      expect((await gateway.statusOf(real.sender)).status).toBe('scanning')
    },
  )

const scanRightly = step(
  'the phone scans',
  ({ isScannable }) => isScannable,
  async (model, real) => {
    expect(await scan(real, real.sender)).toMatchObject({ ok: true })
    Object.assign(model, { status: 'connected', isScannable: false })
    await expectStatus(real, 'connected')
  },
)

const scanByAnother = step(
  'another phone scans',
  ({ isScannable }) => isScannable,
  async (model, real) => {
    await scan(real, `1${real.sender}`)
    Object.assign(model, { status: 'disconnected', isScannable: false })
    await expectStatus(real, 'disconnected')
    expect(await gateway.statusOf(real.sender)).toMatchObject({ status_reason: 'sender_mismatch' })
  },
)

const scanOld = step(
  'the phone scans a QR code that no longer counts',
  ({ isScannable, status }) => !isScannable && status !== 'scanning',
  async (model, real) => {
    if (real.qr === undefined) return
    // The answer to a logout does not wait for the owner: until it has heard of it, a link is made and undone.
    const links = model.status === 'connected' ? 1 : 0
    const { ok } = await scan(real, real.sender)
    if (links === 1) expect(ok).toBe(false)
    await until(
      'no other link is left',
      async () => (await gateway.companionsOf(real.sender)).length === links,
    )
    await expectStatus(real, model.status)
  },
)

const logOut = step(
  'logout-device',
  () => true,
  async (model, real) => {
    const answer = await gateway.call('logout-device', { sender: real.sender })
    if (model.status === 'unknown') {
      expect(answer).toMatchObject({ status: 404, body: { code: 'device_not_found' } })
      return
    }
    expect(answer.status).toBe(200)
    Object.assign(model, { status: 'disconnected', isScannable: false })
    expect((await gateway.statusOf(real.sender)).status).toBe('disconnected')
  },
)

const unlinkOnPhone = step(
  'the phone unlinks',
  ({ status }) => status === 'connected',
  async (model, real) => {
    await gateway.control('/unlink', { number: real.sender })
    model.status = 'disconnected'
    await expectStatus(real, 'disconnected')
  },
)

const send = step(
  'send-message',
  () => true,
  async (model, real) => {
    const given = { sender: real.sender, number: '15550900000', message: 'x', wait: 10 }
    const { status, body } = await gateway.call('send-message', given)
    if (model.status === 'connected') expect(['sent', 'delivered']).toContain(body.status)
    else expect(status).toBe(model.status === 'unknown' ? 404 : 409)
  },
)

const replaceWorker = step(
  'another worker takes over',
  ({ status }) => workers < 4 && (status === 'connected' || status === 'scanning'),
  async (model, real) => {
    await devnet.start(`worker-${workers + 1}`)
    await devnet.stop(`worker-${workers}`)
    workers++
    await devnet.waitUntilReady()
    // The session that showed it is gone; who goes on shows another.
    model.isScannable = false
    await expectStatus(real, model.status)
  },
)

it('a device is what its commands, its phone and its workers have made of it', async () => {
  const steps = [
    createDevice,
    generateQr(false),
    generateQr(true),
    scanRightly,
    scanRightly,
    scanByAnother,
    scanOld,
    logOut,
    unlinkOnPhone,
    send,
    send,
    replaceWorker,
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.commands(
        steps.map((one) => fc.constant(one)),
        { maxCommands: 25, size: 'max' },
      ),
      async (commands) => {
        const real: Real = { sender: `1555090${1000 + senders++}`, qr: undefined }
        await fc.asyncModelRun(
          () => ({ model: { status: 'unknown', isScannable: false } satisfies Model as Model, real }),
          commands,
        )
      },
    ),
    { numRuns: 6, seed: 14, endOnFailure: true },
  )
}, 90_000)

/** Every session has keys of its own. */
const keyOf = (qr: unknown) => String(qr).split(',')[1]

it('a QR code is replaced when its owner did not notice that a logout came before the next generate-qr', async () => {
  const sender = '15550909999'
  const db = openDatabase(devnet.databaseUrl, {
    poolSize: 1,
    applicationName: 'test',
    statementTimeoutMs: 5000,
  })
  const events = openDeviceEvents(devnet.redisUrl, { onError: () => undefined })
  try {
    const first = await gateway.call('generate-qr', { sender })
    const device_id = Number(first.body.device_id)
    const [account] = await db.$client<
      { id: number }[]
    >`SELECT account_id AS id FROM devices WHERE id = ${device_id}`
    // All that logout-device does, but for the command to the owner.
    await requestUnlink(db, account?.id ?? 0, device_id)
    await events.clearQr(device_id)
    const second = await gateway.call('generate-qr', { sender })
    expect(second.status).toBe(200)
    // Not the next one of the session that was logged out: that would come when the first has run out.
    expect(keyOf(second.body.qr_text)).not.toBe(keyOf(first.body.qr_text))
    expect(await scan({ sender, qr: first.body.qr_text }, sender)).toMatchObject({ ok: false })
    expect(await scan({ sender, qr: second.body.qr_text }, sender)).toMatchObject({ ok: true })
  } finally {
    await Promise.all([events.close(), closeDatabase(db)])
  }
})
