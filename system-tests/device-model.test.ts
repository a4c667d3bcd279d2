import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { requestPairing, requestUnlink } from '@wagate/db/queries/device-desired-state'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { type DeviceEvents, openDeviceEvents } from '@wagate/queue/device-events'
import { makeGatewayClient } from '@wagate/test-kit/gateway-client'
import { until } from '@wagate/test-kit/until'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let devnet: Devnet
let gateway: ReturnType<typeof makeGatewayClient>
let senders = 0
let workers = 1

beforeAll(async () => {
  const environment = {
    SEND_RATE_PER_MINUTE: '0',
    LIMIT_REQUESTS_PER_SECOND: '0',
    LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '0',
    LIMIT_QR_CODES_PER_MINUTE: '0',
    LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '0',
    PAIRINGS_PER_ACCOUNT_MAX: '1000',
    PAIRINGS_MAX: '1000',
  }
  devnet = await startDevnet({ workers, shards: 4, environment: () => environment })
  gateway = makeGatewayClient(devnet)
}, 60_000)

afterAll(() => devnet?.close(), 30_000)

/** What a client may expect. */
type Model = { status: 'unknown' | 'disconnected' | 'scanning' | 'connected'; isScannable: boolean }
/** One sender of the gateway and its phone. */
type Real = { sender: string; qr: unknown; scheduled: string[] }
type Step = fc.AsyncCommand<Model, Real>

/** What was accepted for a link that has ended never leaves. */
async function expectScheduledFailed({ scheduled }: Real): Promise<void> {
  for (const messageId of scheduled.splice(0)) {
    const { error_code } = await gateway.untilStatus(messageId, 'failed')
    expect(error_code).toBe('sender_logged_out')
  }
}

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
      await expectScheduledFailed(real)
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
    await expectScheduledFailed(real)
  },
)

const unlinkOnPhone = step(
  'the phone unlinks',
  ({ status }) => status === 'connected',
  async (model, real) => {
    await gateway.control('/unlink', { number: real.sender })
    model.status = 'disconnected'
    await expectStatus(real, 'disconnected')
    await expectScheduledFailed(real)
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

/** What a send answers to a sender in this state. */
function expectAccepted({ status }: Model, answer: { status: number }): boolean {
  const isLinked = status === 'connected'
  expect(answer.status).toBe(isLinked ? 200 : status === 'unknown' ? 404 : 409)
  return isLinked
}

const sendMedia = step(
  'send-media',
  () => true,
  async (model, { sender }) => {
    const url = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')}`
    const given = { sender, number: '15550900000', type: 'document', url, wait: 20 }
    const answer = await gateway.call('send-media', given)
    if (expectAccepted(model, answer)) expect(['sent', 'delivered']).toContain(answer.body.status)
  },
)

const schedule = step(
  'send-message later',
  () => true,
  async (model, { sender, scheduled }) => {
    const send_at = new Date(Date.now() + 3_600_000).toISOString()
    const given = { sender, number: '15550900000', message: 'later', send_at }
    const answer = await gateway.call('send-message', given)
    if (expectAccepted(model, answer)) scheduled.push(String(answer.body.message_id))
  },
)

const cancel = step(
  'cancel-message',
  () => true,
  async (_, { scheduled }) => {
    const message_id = scheduled.shift()
    if (message_id === undefined) return
    const answer = await gateway.call('cancel-message', { message_id })
    expect(answer).toMatchObject({ status: 200, body: { status: 'canceled' } })
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
  sendMedia,
  schedule,
  schedule,
  cancel,
]

function histories(of: Step[], maxCommands: number) {
  const arbitraries = of.map((one) => fc.constant(one))
  return fc.commands(arbitraries, { maxCommands, size: 'max' })
}

async function run(commands: Iterable<Step>): Promise<void> {
  const real: Real = { sender: `1555090${1000 + senders++}`, qr: undefined, scheduled: [] }
  await fc.asyncModelRun(
    () => ({ model: { status: 'unknown', isScannable: false } satisfies Model as Model, real }),
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

/** Every session has keys of its own. */
const keyOf = (qr: unknown) => String(qr).split(',')[1]

describe('when the owner did not notice that a logout came before the next generate-qr', () => {
  const sender = '15550909999'
  let db: Database
  let events: DeviceEvents

  beforeAll(() => {
    db = openDatabase(devnet.databaseUrl, {
      poolSize: 1,
      applicationName: 'test',
      statementTimeoutMs: 5000,
    })
    events = openDeviceEvents(devnet.redisUrl, { onError: () => undefined })
  })
  afterAll(() => Promise.all([events?.close(), db && closeDatabase(db)]))

  /** All that logout-device does, but for the command to the owner. */
  async function logOutUnnoticed(device: { id: number; accountId: number }): Promise<void> {
    await requestUnlink(db, device.accountId, device.id)
    await events.clearQr(device.id)
  }

  async function generateQrOf(number: string) {
    const { status, body } = await gateway.call('generate-qr', { sender: number })
    expect(status).toBe(200)
    const id = Number(body.device_id)
    const [account] = await db.$client<
      { id: number }[]
    >`SELECT account_id AS id FROM devices WHERE id = ${id}`
    return { qr: body.qr_text, device: { id, accountId: account?.id ?? 0 } }
  }

  it('the QR code is replaced', async () => {
    const first = await generateQrOf(sender)
    await logOutUnnoticed(first.device)
    const second = await generateQrOf(sender)
    // Not the next one of the session that was logged out: that would come when the first has run out.
    expect(keyOf(second.qr)).not.toBe(keyOf(first.qr))
    expect(await scan({ sender, qr: first.qr, scheduled: [] }, sender)).toMatchObject({ ok: false })
    expect(await scan({ sender, qr: second.qr, scheduled: [] }, sender)).toMatchObject({ ok: true })
  })

  it('a phone that scans the former QR code is not linked', async () => {
    const number = '15550909998'
    const first = await generateQrOf(number)
    await logOutUnnoticed(first.device)
    await requestPairing(db, first.device.accountId, first.device.id, { pairingMs: 60_000, force: false })
    expect(await scan({ sender: number, qr: first.qr, scheduled: [] }, number)).toMatchObject({ ok: true })
    const second = await generateQrOf(number)
    expect(keyOf(second.qr)).not.toBe(keyOf(first.qr))
    await until('the link is undone', async () => (await gateway.companionsOf(number)).length === 0)
    expect(await scan({ sender: number, qr: second.qr, scheduled: [] }, number)).toMatchObject({ ok: true })
    await until('it is connected', async () => (await gateway.statusOf(number)).status === 'connected')
  })
})
