import { timeAwake } from '@wagate/test-kit/awake-time'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, ownShards, randomPhone, startGateway } from './gateway.ts'
import { waitForPairing } from './play-pairing.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

// Both wait, one of them for as long as callers do.
describe.concurrent('a wait for a QR code', () => {
  test('returns 504 without a QR code in 15 seconds and reports when no worker is available', async () => {
    const account = await gateway.createAccount()
    const startedAt = performance.now()
    const { result: answer, awakeMs } = await timeAwake(() =>
      account.post('/generate-qr', { sender: randomPhone() }),
    )
    expect(answer).toMatchObject({
      status: 504,
      body: { code: 'qr_timeout', error: expect.stringContaining('No worker is available') },
    })
    expect(performance.now() - startedAt).toBeGreaterThan(14_500)
    expect(awakeMs).toBeLessThan(17_000)
  })

  test('a waiting request gets a response when the process stops', async () => {
    const stopping = await startGateway()
    await ownShards(stopping)
    const account = await stopping.createAccount()
    const sender = randomPhone()
    const answering = account.post('/generate-qr', { sender })
    await waitForPairing(stopping, sender)
    const startedAt = performance.now()
    const [answer] = await Promise.all([answering, stopping.close()])
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  })
})
