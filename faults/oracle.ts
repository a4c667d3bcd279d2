import { setTimeout as delay } from 'node:timers/promises'
import { auditPhones, type Disagreements } from '@wagate/test-kit/load/phone-audit'
import type { Received } from '@wagate/test-kit/load/phones'
import type { MessageFacts } from '@wagate/test-kit/load/records'
import { expect } from 'vitest'
import { note } from './figures.ts'
import { rememberedBy, type Stored } from './forgotten.ts'
import type { People } from './people.ts'
import type { World } from './world.ts'

type Observed = Pick<World, 'phones' | 'records' | 'isAbsent'>

/** What a fault may do to messages. */
export type PermittedFailures = {
  /** Senders whose links the fault ends. Their requests may be refused, and what they had may fail with it. */
  loggedOut?: string[]
  /** Failures that this fault must cause. None by default, but for numbers that are not on WhatsApp. */
  mayFail?(message: MessageFacts): boolean
}

type Given = {
  startedAtMs: number
  /** Lines of the network's log before the trial. */
  logged: number
  before: Awaited<ReturnType<World['phones']['stats']>>
  people: People
  /** What the server had that was replaced. */
  former?: Stored | undefined
  options?: PermittedFailures
}

/** Receipts and received messages are stored beside the messages that are sent. */
const agreeMs = 20_000

/**
 * Every accepted message is as often on its recipient's phone as its status says, every receipt and every received message
 * is stored, no phone got what it cannot decrypt, and nothing failed that need not fail.
 */
export async function expectAgreement(world: Observed, name: string, given: Given): Promise<void> {
  const { before, people, options = {} } = given
  const isUncertain = ({ sender }: { sender: string }) => options.loggedOut?.includes(sender) ?? false
  const deadline = performance.now() + agreeMs
  let found = await audit()
  while (performance.now() < deadline && !isAgreed(found)) {
    await delay(500)
    found = await audit()
  }
  const { undecryptable, retries, unknown } = await world.phones.stats()
  note(name, {
    'on phones': found.shown,
    'opened by people': people.opened.size,
    'written by people': people.written.length,
    'asked for once more': retries - before.retries,
  })
  expect(found.disagreements).toEqual({
    notShownOnce: [],
    shownAlthoughOver: [],
    receiptsLost: [],
    inboundNotStoredOnce: [],
  })
  expect(found.wrongEnds).toEqual([])
  expect(undecryptable - before.undecryptable).toBe(0)
  // What no client of WhatsApp does, as sending a message again with another secret.
  expect(unknown).toEqual(before.unknown)

  async function audit() {
    const records = await world.records.listMessagesSince(given.startedAtMs)
    const log = (await world.phones.log()).slice(given.logged)
    const shown = await listShown(new Set(records.map(({ number }) => number)))
    const inbound = await world.records.listInboundSince(given.startedAtMs)
    const remembered = rememberedBy(records, given.former)
    const written = remembered.written(people.written, inbound)
    const sides = {
      log: remembered.log(log),
      shown: new Map([...shown].map(([number, messages]) => [number, remembered.shown(messages)])),
      opened: remembered.opened(people.opened),
      inbound,
    }
    const all = auditPhones({ ...sides, records, written })
    // When a link ends, it is unknown whether messages in flight have arrived.
    const certain = records.filter((record) => !isUncertain(record))
    const ofCertain = auditPhones({
      ...sides,
      records: certain,
      written: written.filter((message) => !isUncertain(message)),
    })
    const disagreements: Disagreements = { ...ofCertain, notShownOnce: all.notShownOnce }
    const wrongEnds = records
      .filter((record) => !mayEnd(record))
      .map(({ body, status, errorCode }) => {
        return `${body}: ${errorCode ?? status}`
      })
    return { disagreements, wrongEnds, shown: [...shown.values()].flat().length }
  }

  async function listShown(numbers: Set<string>): Promise<Map<string, Received[]>> {
    const shown = new Map<string, Received[]>()
    for (const number of numbers) shown.set(number, await world.phones.receivedBy(number))
    return shown
  }

  function mayEnd(message: MessageFacts): boolean {
    const { status, errorCode, number } = message
    if (world.isAbsent(number) && status !== 'canceled')
      return errorCode === 'recipient_not_on_whatsapp' || mayFailOtherwise(message)
    return status !== 'failed' || mayFailOtherwise(message)
  }

  function mayFailOtherwise(message: MessageFacts): boolean {
    if (message.status !== 'failed') return false
    const isOfLogout = isUncertain(message) && message.errorCode === 'sender_logged_out'
    return isOfLogout || (options.mayFail?.(message) ?? false)
  }
}

function isAgreed({
  disagreements,
  wrongEnds,
}: {
  disagreements: Disagreements
  wrongEnds: string[]
}): boolean {
  return [...Object.values(disagreements), wrongEnds].every((list) => list.length === 0)
}
