import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSender, type Gateway, startGatewayWithOwner } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGatewayWithOwner()
})
afterAll(() => gateway.close())

const number = '4915199999999'

test.each([
  [undefined, null],
  [0, null],
  ['3', 3],
  [10, 10],
])('typing: %j is stored as %j', async (typing, stored) => {
  const { account, sender } = await createSender(gateway)
  const { body } = await account.post('/send-message', { sender, number, message: 'x', typing })
  const rows = await gateway.db
    .$client`SELECT typing_seconds FROM messages WHERE id = ${String(body.message_id)}`
  expect(rows).toEqual([{ typing_seconds: stored }])
})

test.each([11, -1, 1.5, true])('refuses typing: %j', async (typing) => {
  const { account, sender } = await createSender(gateway)
  const answer = await account.post('/send-message', { sender, number, message: 'x', typing })
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_parameter' } })
})
