import { setImmediate as turn } from 'node:timers/promises'
import { makeOneAtATime } from '@wagate/runtime/one-at-a-time'
import { describe, expect, test } from 'vitest'
import { coverageOf, makeFanOutReports, watchFanOut } from '../src/session/sending/fan-out.ts'
import { companion, makeAttempts, own, ownPhone, recipient } from './attempts.ts'

describe('the coverage of a message', () => {
  test.each([
    { encrypted: [ownPhone, recipient, companion], failed: [], coverage: 'all' },
    { encrypted: [ownPhone, companion], failed: [recipient], coverage: 'part' },
    { encrypted: [recipient], failed: [ownPhone], coverage: 'all' },
    { encrypted: [ownPhone], failed: [], coverage: 'none' },
    { encrypted: ['900000000000001@lid'], failed: [], coverage: 'none' },
    { encrypted: [], failed: [recipient], coverage: 'none' },
  ])('is $coverage when it was encrypted for $encrypted, but not for $failed', ({ coverage, ...fanOut }) => {
    expect(coverageOf(fanOut, recipient, own)).toBe(coverage)
  })

  test('includes the sender when the sender is the recipient', () => {
    expect(coverageOf({ encrypted: [ownPhone], failed: [] }, ownPhone, own)).toBe('all')
  })
})

/** A socket that sends as Baileys does, or that waits before it begins the transaction of a message. */
function makeSocket({ isLate }: { isLate: boolean }) {
  const reports = makeFanOutReports()
  const oneAtATime = makeOneAtATime()
  const { encryptMessage } = reports.wrap({ encryptMessage: async () => turn() } as never)
  const sock = {
    async relayMessage(jid: string, _content: object, _options: object) {
      if (isLate) await turn()
      return oneAtATime(
        reports.begin(async () => {
          await turn()
          await encryptMessage({ jid, data: new Uint8Array() })
          return jid
        }),
      )
    },
  }
  reports.attachTo(sock)
  return sock
}

describe('the fan-out', () => {
  test('encrypts nothing for a message whose transaction does not begin at once', async () => {
    const sock = makeSocket({ isLate: true })
    const content = {}
    const send = () => sock.relayMessage(recipient, content, {})
    await expect(watchFanOut(content, send, turn)).rejects.toThrow('began no transaction')
    expect(await sock.relayMessage(recipient, {}, {})).toBe(recipient)
  })

  test('keeps messages apart that one socket sends at the same time', async () => {
    const sock = makeSocket({ isLate: false })
    const send = (jid: string) => {
      const content = {}
      return watchFanOut(content, () => sock.relayMessage(jid, content, {}), turn)
    }
    const [first, unwatched, second] = await Promise.all([
      send(recipient),
      sock.relayMessage(companion, {}, {}),
      send(ownPhone),
    ])
    expect([first.encrypted, unwatched, second.encrypted]).toEqual([[recipient], companion, [ownPhone]])
  })
})

describe('a delivery', () => {
  test('leaves out a device of the recipient only when it fails a second time', async () => {
    const { attempt, sent } = makeAttempts({ failing: [companion] })
    await expect(attempt()).rejects.toThrow('could not be encrypted for every device')
    expect(await attempt()).toEqual({ kind: 'acknowledged' })
    expect(sent()).toEqual({ times: 2, forgotten: ['15550000002', '15550000001', '900000000000001'] })
  })

  test('that left out a device waits for its acknowledgement, which would count for the next one', async () => {
    const { attempt, steps } = makeAttempts({ failing: [companion], acknowledgedAfterMs: 20 })
    await expect(attempt()).rejects.toThrow('could not be encrypted for every device')
    expect(steps.at(-1)).toBe('acknowledged')
  })

  test('never counts a message as sent when nothing in it is for the recipient', async () => {
    const { attempt } = makeAttempts({ failing: [recipient, companion] })
    for (let n = 0; n < 3; n++) await expect(attempt()).rejects.toThrow('could not be encrypted')
  })

  test('sends a message once when every device can read it', async () => {
    const { attempt, sent } = makeAttempts({ failing: [] })
    expect(await attempt()).toEqual({ kind: 'acknowledged' })
    expect(sent()).toEqual({ times: 1, forgotten: [] })
  })
})
