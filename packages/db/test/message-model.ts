import type { MessageStatus } from '@wagate/shared/statuses'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Database } from '../src/client.ts'
import { type MessageMove, type MessageState, moveMessage } from '../src/message-states.ts'
import { findMediaBlob } from '../src/queries/media/media-blobs.ts'
import { listWaitingMessages } from '../src/queries/messages/waiting-messages.ts'
import type { Fence } from '../src/queries/statements/fence.ts'

export type ModelMessage = {
  state: MessageState
  isScheduled: boolean
  generation: number
  hasBytes: boolean
}
/** The model of a sender, with its messages in the order in which they were accepted. */
export type Model = { isLinked: boolean; generation: number; messages: ModelMessage[]; received: number }
/** The sender in the database. */
export type Real = {
  db: Database
  accountId: number
  deviceId: number
  sender: string
  fence: Fence
  ids: string[]
}
export type Step = fc.AsyncCommand<Model, Real>

const isOpen = ({ state }: ModelMessage) => state === 'queued' || state === 'sending'
const statusOf = ({ state }: ModelMessage) => (state === 'swept' ? 'failed' : state)
export const move = (message: ModelMessage, name: MessageMove) => {
  message.state = moveMessage(message.state, name)
}
/** A message that was accepted for another link is not sent, also before it has failed. */
const isDue = (message: ModelMessage, { isLinked, generation }: Model) =>
  isOpen(message) && !message.isScheduled && isLinked && message.generation === generation

/** fast-check prints the name. */
export function step(name: string, run: (model: Model, real: Real) => Promise<void>): Step {
  return {
    check: () => true,
    async run(model, real) {
      await run(model, real)
      await expectAsModelled(model, real)
    },
    toString: () => name,
  }
}

/** Applies a step to one of the messages, if there is one. */
export function stepOnMessage(
  name: string,
  run: (message: ModelMessage, id: string, real: Real, model: Model) => Promise<void>,
): fc.Arbitrary<Step> {
  return fc.nat(20).map((draw) =>
    step(`${name} ${draw}`, async (model, real) => {
      const index = model.messages.length === 0 ? 0 : draw % model.messages.length
      const [message, id] = [model.messages[index], real.ids[index]]
      if (message && id !== undefined) await run(message, id, real, model)
    }),
  )
}

export const listWaiting = ({ db, deviceId }: Real) =>
  listWaitingMessages(db, deviceId, { except: [], exceptNumbers: [], without: [], limit: 100 })

async function expectAsModelled(model: Model, real: Real): Promise<void> {
  const rows = await real.db.$client<{ direction: string; status: MessageStatus; waId: string }[]>`
    SELECT direction, status, wa_id AS "waId" FROM messages WHERE device_id = ${real.deviceId} ORDER BY seq`
  const out = rows.filter(({ direction }) => direction === 'out')
  expect(out.map(({ status }) => status)).toEqual(model.messages.map(statusOf))
  expect(rows.length - out.length).toBe(model.received)
  const due = real.ids.filter((_, index) => isDue(model.messages[index] as ModelMessage, model))
  expect((await listWaiting(real)).map(({ id }) => id)).toEqual(due)
  for (const [index, id] of real.ids.entries())
    if (model.messages[index]?.hasBytes) expect(await findMediaBlob(real.db, id)).toMatchObject({ size: 3 })
}
