import { findProxyKey } from '@wagate/db/queries/credentials/master-keys'
import { type DeviceProxy, setProxy } from '@wagate/db/queries/devices/device-proxies'
import { setDevice as set } from '@wagate/db/queries/devices/devices'
import { type ProxyUrl, parseProxyUrl, proxyContext, showProxy, writeProxy } from '@wagate/shared/proxy-url'
import { isForbiddenHost } from '@wagate/shared/public-hosts'
import { sealBox } from '@wagate/shared/sealed-box'
import { z } from 'zod'
import type { Call } from '../calls/call.ts'
import { defineOperation } from '../calls/operation.ts'
import { audit, namesOf } from '../changes/audit.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { AppError } from '../errors/app-error.ts'
import { deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'
import { pacingParameters, toPacing } from '../objects/pacing-fields.ts'
import { text } from '../parameters/parameter-types.ts'
import { isAnyGiven, requireAny } from '../parameters/require-any.ts'

const proxyCharactersMax = 2048
const proxyMessage = 'must be http://[user:password@]host:port, socks5://[user:password@]host:port, or none'

/** `none` becomes null. */
const proxyUrl = z
  .string({ error: proxyMessage })
  .max(proxyCharactersMax, proxyMessage)
  .transform((text, issues) => {
    if (text === 'none') return null
    const url = parseProxyUrl(text)
    if (url) return url
    issues.addIssue({ code: 'custom', message: proxyMessage })
    return z.NEVER
  })

export const setDevice = defineOperation({
  name: 'set-device',
  summary: 'Change the label, the pacing or the proxy of a sender',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...deviceLocator,
    name: text(190).optional().describe('Label'),
    proxy: proxyUrl
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
    const { db, notify } = call.context
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
    notify.enqueueCommand({ kind: 'apply-settings', deviceId: id })
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

/** Encrypts a proxy so that only workers can read it. Throws `invalid_parameter` or `unavailable`. */
async function sealProxy(
  { context: { db, config } }: Call,
  deviceId: number,
  proxy: ProxyUrl,
): Promise<DeviceProxy> {
  if (!config.proxies.allowsPrivateHosts && isForbiddenHost(proxy.hostname)) {
    const message = 'must have a public address'
    throw new AppError('invalid_parameter', `proxy ${message}.`, {
      details: [{ parameter: 'proxy', message }],
    })
  }
  const key = await findProxyKey(db)
  if (!key) {
    throw new AppError('unavailable', 'No worker has started yet, so a proxy cannot be stored.', {
      retryAfterSeconds: 5,
    })
  }
  const recipient = { id: key.masterKeyId, publicKey: key.publicKey }
  const sealed = sealBox(recipient, Buffer.from(writeProxy(proxy)), proxyContext(deviceId))
  return { shown: showProxy(proxy), sealed }
}
