import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { until } from '@wagate/test-kit/until'
import type fc from 'fast-check'
import { expect } from 'vitest'

/** What a client may expect. */
export type DeviceModel = {
  status: 'unknown' | 'disconnected' | 'scanning' | 'connected'
  isScannable: boolean
}
/** One sender of the gateway and its phone. */
export type RealDevice = { gateway: GatewayClient; sender: string; qr: unknown; scheduled: string[] }
export type Step = fc.AsyncCommand<DeviceModel, RealDevice>

/** What was accepted for a link that has ended never leaves. */
async function expectScheduledFailed({ gateway, scheduled }: RealDevice): Promise<void> {
  for (const messageId of scheduled.splice(0)) {
    const { error_code } = await gateway.untilStatus(messageId, 'failed')
    expect(error_code).toBe('sender_logged_out')
  }
}

/** The name is what fast-check prints. */
export function step(name: string, isPossible: (model: DeviceModel) => boolean, run: Step['run']): Step {
  return { check: isPossible, run, toString: () => name }
}

export async function expectStatus(
  { gateway, sender }: RealDevice,
  status: DeviceModel['status'],
): Promise<void> {
  await until(`${sender} is ${status}`, async () => (await gateway.statusOf(sender)).status === status)
}

function scan({ gateway, qr }: RealDevice, number: string): Promise<{ ok: boolean }> {
  return gateway.control('/scan', { qr, number })
}

const createDevice = step(
  'create-device',
  () => true,
  async (model, real) => {
    const answer = await real.gateway.call('create-device', { sender: real.sender })
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
      const answer = await real.gateway.call('generate-qr', { sender: real.sender, force })
      if (model.status === 'connected' && !force) {
        expect(answer).toMatchObject({ status: 409, body: { code: 'already_connected' } })
        return
      }
      expect(answer).toMatchObject({ status: 200, body: { sender: real.sender } })
      Object.assign(model, { status: 'scanning', isScannable: true })
      real.qr = answer.body.qr_text
      expect((await real.gateway.statusOf(real.sender)).status).toBe('scanning')
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
    expect(await real.gateway.statusOf(real.sender)).toMatchObject({ status_reason: 'sender_mismatch' })
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
      async () => (await real.gateway.companionsOf(real.sender)).length === links,
    )
    await expectStatus(real, model.status)
  },
)

const logOut = step(
  'logout-device',
  () => true,
  async (model, real) => {
    const answer = await real.gateway.call('logout-device', { sender: real.sender })
    if (model.status === 'unknown') {
      expect(answer).toMatchObject({ status: 404, body: { code: 'device_not_found' } })
      return
    }
    expect(answer.status).toBe(200)
    Object.assign(model, { status: 'disconnected', isScannable: false })
    expect((await real.gateway.statusOf(real.sender)).status).toBe('disconnected')
    await expectScheduledFailed(real)
  },
)

const unlinkOnPhone = step(
  'the phone unlinks',
  ({ status }) => status === 'connected',
  async (model, real) => {
    await real.gateway.control('/unlink', { number: real.sender })
    model.status = 'disconnected'
    await expectStatus(real, 'disconnected')
    await expectScheduledFailed(real)
  },
)

const send = step(
  'send-message',
  () => true,
  async (model, real) => {
    const given = { sender: real.sender, number: '15552002000', message: 'x', wait: 20 }
    const { status, body } = await real.gateway.call('send-message', given)
    if (model.status === 'connected') expect(['sent', 'delivered']).toContain(body.status)
    else expect(status).toBe(model.status === 'unknown' ? 404 : 409)
  },
)

/** What a send answers to a sender in this state. */
function expectAccepted({ status }: DeviceModel, answer: { status: number }): boolean {
  const isLinked = status === 'connected'
  expect(answer.status).toBe(isLinked ? 200 : status === 'unknown' ? 404 : 409)
  return isLinked
}

const sendMedia = step(
  'send-media',
  () => true,
  async (model, { gateway, sender }) => {
    const url = `data:application/pdf;base64,${Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64')}`
    const given = { sender, number: '15552002000', type: 'document', url, wait: 20 }
    const answer = await gateway.call('send-media', given)
    if (expectAccepted(model, answer)) expect(['sent', 'delivered']).toContain(answer.body.status)
  },
)

const schedule = step(
  'send-message later',
  () => true,
  async (model, { gateway, sender, scheduled }) => {
    const send_at = new Date(Date.now() + 3_600_000).toISOString()
    const given = { sender, number: '15552002000', message: 'later', send_at }
    const answer = await gateway.call('send-message', given)
    if (expectAccepted(model, answer)) scheduled.push(String(answer.body.message_id))
  },
)

const cancel = step(
  'cancel-message',
  () => true,
  async (_, { gateway, scheduled }) => {
    const message_id = scheduled.shift()
    if (message_id === undefined) return
    const answer = await gateway.call('cancel-message', { message_id })
    expect(answer).toMatchObject({ status: 200, body: { status: 'canceled' } })
  },
)

/** The steps that a client or a phone takes. Those named twice are more frequent. */
export const steps = [
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
