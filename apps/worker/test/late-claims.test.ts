import { describe, expect, test } from 'vitest'
import { makeAttempts } from './attempts.ts'

describe('the claim of a text', () => {
  test('begins before it is encrypted, and it leaves only after the claim is stored', async () => {
    let store: (() => void) | undefined
    const stored = new Promise<void>((resolve) => {
      store = resolve
    })
    const { attempt, steps } = makeAttempts({
      claimed: async () => {
        await stored
        return { refusal: undefined }
      },
    })
    const sending = attempt()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(steps).toEqual(['claimLate', 'encrypted'])
    store?.()
    expect(await sending).toEqual({ kind: 'acknowledged' })
    expect(steps).toEqual(['claimLate', 'encrypted', 'left', 'acknowledged'])
  })

  test('keeps a canceled message from leaving', async () => {
    const { attempt, steps } = makeAttempts({ claimed: async () => undefined })
    expect(await attempt()).toEqual({ kind: 'unclaimed' })
    expect(steps).toEqual(['claimLate', 'encrypted'])
  })

  test('keeps a message to someone who has opted out from leaving, and fails it once', async () => {
    const { attempt, steps } = makeAttempts({ claimed: async () => ({ refusal: 'opted_out' }) })
    expect(await attempt()).toEqual({ kind: 'failed' })
    expect(steps).toEqual(['claimLate', 'encrypted', 'opted_out'])
  })

  test('keeps a message from leaving when Postgres does not answer, and the attempt fails with the reason', async () => {
    const { attempt, steps } = makeAttempts({
      claimed: async () => {
        throw new Error('CONNECTION_ENDED')
      },
    })
    await expect(attempt()).rejects.toThrow('CONNECTION_ENDED')
    expect(steps).not.toContain('left')
  })

  test('may fail before the text is encrypted', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    const { attempt, steps } = makeAttempts({ encryptionMs: 20, claimed: async () => undefined })
    expect(await attempt()).toEqual({ kind: 'unclaimed' })
    process.off('unhandledRejection', note)
    expect(steps).toEqual(['claimLate', 'encrypted'])
    expect(unhandled).toEqual([])
  })

  test('is not made while nothing may be sent', async () => {
    const { attempt, steps } = makeAttempts({})
    expect(await attempt(() => false)).toEqual({ kind: 'retry' })
    expect(steps).toEqual([])
  })
})

describe('while WhatsApp restricts messages to new contacts', () => {
  function makeRestricted(isToContact: boolean) {
    const attempts = makeAttempts({ message: { isToContact } })
    const { firstContacts } = attempts
    firstContacts.lock(firstContacts.lasting('reach_out_time_lock', 60_000))
    return attempts
  }

  test('a message that was read before no longer leaves', async () => {
    const { attempt, steps } = makeRestricted(false)
    expect(await attempt()).toEqual({ kind: 'paused' })
    expect(steps).toEqual([])
  })

  test('one to a known contact leaves', async () => {
    expect(await makeRestricted(true).attempt()).toEqual({ kind: 'acknowledged' })
  })
})

describe('a message is claimed before it is handled', () => {
  test.each([
    { why: 'quotes another', message: { replyTo: { body: 'x' } as never } },
    { why: 'was accepted before this owner began', message: { createdAt: '2025-12-31 23:59:59+00' } },
    { why: 'was sent before without an answer', message: { status: 'sending' as const } },
    { why: 'was held when an owner died', message: { interruptions: 1 } },
  ])('if it $why', async ({ message }) => {
    const { attempt, steps } = makeAttempts({ message, claimed: async () => undefined })
    expect(await attempt()).toEqual({ kind: 'unclaimed' })
    expect(steps).toEqual(['claim'])
  })

  test('if an attempt failed', async () => {
    const { device, attempt, steps } = makeAttempts({ claimed: async () => undefined })
    device.retries.note({ id: 'a message' }, 'send_failed')
    expect(await attempt()).toEqual({ kind: 'unclaimed' })
    expect(steps).toEqual(['claim'])
  })
})
