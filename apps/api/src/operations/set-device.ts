import { setProxy } from '@wagate/db/queries/devices/device-proxies'
import { setDevice as set } from '@wagate/db/queries/devices/devices'
import { z } from 'zod'
import { audit, namesOf } from '../changes/audit.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { sealProxy } from '../devices/seal-proxy.ts'
import { deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'
import { pacingParameters, toPacing } from '../objects/pacing-fields.ts'
import { defineOperation } from '../operation.ts'
import { text } from '../parameters/parameter-types.ts'
import { proxy } from '../parameters/proxy.ts'
import { isAnyGiven, requireAny } from '../parameters/require-any.ts'

export const setDevice = defineOperation({
  name: 'set-device',
  summary: 'Change the label, the pacing or the proxy of a sender',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...deviceLocator,
    name: text(190).optional().describe('Label'),
    proxy: proxy
      .optional()
      .describe(
        'Proxy through which the sender reaches WhatsApp: http://[user:password@]host:port, socks5://…, or none',
      ),
    ...pacingParameters('the account', '; never faster than the limit that an ADMIN has set for the account'),
  }),
  fields: deviceObject,
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { device_id: 7, name: 'Shop', rate_per_minute: 30 },
    answer: { ...exampleDevice, rate_per_minute: 30 },
  },
  async handle({ name, proxy, rate_per_minute, burst, daily_cap, new_contacts_per_day, ...located }, call) {
    const pacing = { rate_per_minute, burst, daily_cap, new_contacts_per_day }
    requireAny({ name, proxy, ...pacing })
    const given = { name, ...toPacing(pacing) }
    const { db, enqueueCommand } = call.context
    const { accountId } = call.principal
    const { id } = await getDevice(call, located)
    const sealed = proxy && (await sealProxy(call, id, proxy))
    await db.transaction(async (tx) => {
      const isSet = isAnyGiven(given) && (await set(tx, accountId, id, given))
      if (sealed !== undefined) await setProxy(tx, accountId, id, sealed)
      if (!isSet && sealed === undefined) return
      const detail = { parameters: namesOf({ name, proxy, ...pacing }) }
      await audit(tx, call, { target: `device:${id}`, result: 'changed', detail })
    })
    enqueueCommand({ kind: 'apply-settings', deviceId: id })
    const device = toDeviceObject(await getDevice(call, { device_id: id }), call.context.config)
    for (const [setting, wanted] of Object.entries(pacing)) {
      const inForce = device[setting as keyof typeof device]
      if (typeof wanted === 'number' && wanted !== inForce) {
        call.warn(`${setting} is ${inForce}: an ADMIN has set a lower limit for the account.`)
      }
    }
    return device
  },
})
