import { requestRestart } from '@wagate/db/queries/devices/device-desired-state'
import type { Device } from '@wagate/db/queries/devices/devices'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { waitForDevice } from '../events/wait-for-device.ts'
import { senderNotConnected } from '../messages/send-errors.ts'
import { deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'

const waitMs = 15_000

export const restartSession = defineOperation({
  name: 'restart-session',
  summary: 'Close the connection of a linked sender to WhatsApp and log in again, without a logout',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object(deviceLocator),
  fields: z.object({
    ...deviceObject.shape,
    restarted: z
      .boolean()
      .describe(
        `Whether the sender has logged in again, for which the request waits up to ${waitMs / 1000} s. If not, the gateway goes on trying; \`status_reason\` and \`login_after\` say what it waits for`,
      ),
  }),
  errors: ['missing_parameter', 'device_not_found', 'sender_not_connected'],
  example: {
    given: { device_id: 7 },
    answer: { ...exampleDevice, restarted: true },
  },
  async handle(located, call) {
    const { accountId } = call.principal
    const { db, config, notify } = call.context
    const { id, sender } = await getDevice(call, located)
    await call.charge({ limit: 'restarts', key: `${accountId}:${sender}` })
    let wanted = 0
    const isRestarted = (device: Device) => device.connectedSessionRev >= wanted

    const settled = await waitForDevice(call, id, {
      isRelevant: ({ kind }) => kind === 'status',
      async begin() {
        wanted = await db.transaction(async (tx) => {
          const revision = await requestRestart(tx, accountId, id)
          if (revision === undefined) throw senderNotConnected()
          await audit(tx, call, { target: `device:${id}`, result: 'restarted' })
          return revision
        })
        notify.enqueueCommand({ kind: 'start-session', deviceId: id })
        call.deadline.extend(waitMs)
      },
      async find() {
        const device = await getDevice(call, { device_id: id })
        if (!device.hasCredentials) throw senderNotConnected()
        return isRestarted(device) || isLoginBlocked(device) ? device : undefined
      },
      forMs: waitMs,
    })
    const device = settled ?? (await getDevice(call, { device_id: id }))
    return { ...toDeviceObject(device, config), restarted: isRestarted(device) }
  },
})

/** WhatsApp has refused its logins, which no restart may repeat before their time. */
function isLoginBlocked({ loginAfter, loginBlockedRev, loginBlockedVersion, desiredRev }: Device): boolean {
  if (loginBlockedRev !== null && loginBlockedRev !== desiredRev) return false
  if (loginAfter) return loginAfter.getTime() > Date.now()
  return loginBlockedRev !== null || loginBlockedVersion !== null
}
