import { nextMessagesMax } from '@wagate/db/queries/messages/waiting-messages'
import { normalPriority } from '@wagate/shared/priorities'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeNewContactPauses } from '../src/outbox/first-contacts.ts'
import { makePriorityUse, makeWaitingQueue } from '../src/outbox/waiting-queue.ts'
import { openOwnedDevice } from './owned-device.ts'
import { makeMessage } from './waiting-rows.ts'

let device: Awaited<ReturnType<typeof openOwnedDevice>>
beforeAll(async () => {
  device = await openOwnedDevice()
})
afterAll(() => device.drop())

const message = makeMessage(1, '15550000001')
const query = { except: [], exceptNumbers: [], without: [], limit: nextMessagesMax }

/** A queue whose next message goes to a new contact, and what happens while it is read. */
function makeQueue(happen: (pauses: ReturnType<typeof makeNewContactPauses>, useUp: () => void) => void) {
  const pauses = makeNewContactPauses()
  let isUsedUp = false
  const pace = { contactBudget: { isUsedUp: () => isUsedUp }, priorityUse: makePriorityUse() }
  const nextReads = {
    async read() {
      happen(pauses, () => {
        isUsedUp = true
      })
      return [message]
    },
  }
  const source = { db: device.db, nextReads }
  return makeWaitingQueue(source, { id: device.id, pace, firstContacts: pauses }, normalPriority)
}

test('a message to a new contact is not read when those are paused during the read', async () => {
  expect(await makeQueue(() => undefined).read(query)).toEqual([message])
  const restricted = makeQueue((pauses) => pauses.lock(pauses.lasting('reach_out_time_lock', 60_000)))
  expect(await restricted.read(query)).toEqual([])
  expect(await makeQueue((_, useUp) => useUp()).read(query)).toEqual([])
})
