import { insertPairingLink } from '@wagate/db/queries/devices/pairing-links'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { hashApiKey, makeApiKey } from '../credentials/api-key.ts'
import { deviceLocator, getDevice } from '../devices/device-locator.ts'
import { ensureDevice } from '../devices/ensure-device.ts'
import { deviceFields } from '../objects/device-object.ts'
import { returnUrl } from '../pairing/return-url.ts'
import { text } from '../parameters/parameter-types.ts'

const linkMs = 600_000

export const createLink = defineOperation({
  name: 'create-link',
  summary: 'Return a one-time link to a page on which a person links one sender without an API key',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...deviceLocator,
    sender: deviceLocator.sender.describe('Phone number to link; the device is created if needed'),
    name: text(190).optional().describe('Label, if this request creates the device'),
    title: text(80)
      .optional()
      .describe('Name of your business or product, which the page shows as the one who asks'),
    return_url: returnUrl
      .optional()
      .describe(
        'Where the page offers to go on once the sender is linked. An https URL; over http only localhost',
      ),
  }),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    name: deviceFields.name,
    url: z
      .string()
      .describe(
        'Link that opens once. The first person who opens it can link the sender: treat it as a secret',
      ),
    expires_in: z.int().describe('Seconds until the link and the session that it opens become invalid'),
  }),
  errors: ['missing_parameter', 'device_not_found', 'device_limit_reached', 'public_url_missing'],
  example: {
    given: {
      sender: '4915112345678',
      name: 'Shop',
      title: 'Example Shop',
      return_url: 'https://shop.example.com/linked',
    },
    answer: {
      device_id: 7,
      sender: '4915112345678',
      name: 'Shop',
      url: 'https://gateway.example.com/link#wag_link_…',
      expires_in: 600,
    },
  },
  async handle({ name, title, return_url, ...located }, call) {
    const { accountId, keyId } = call.principal
    const origin = call.publicOrigin()
    await call.charge({ limit: 'newLinks', key: String(accountId) })
    const { sender, device_id, id } = located
    const device =
      sender !== undefined && device_id === undefined && id === undefined
        ? (await ensureDevice(call, { sender, name: name ?? sender, cmsId: null, cmsVer: null })).device
        : await getDevice(call, located)
    const secret = makeApiKey('wag_link_')
    await call.context.db.transaction(async (tx) => {
      await insertPairingLink(tx, accountId, {
        deviceId: device.id,
        keyId,
        hash: hashApiKey(secret),
        forMs: linkMs,
        page: { ...(title !== undefined && { title }), ...(return_url !== undefined && { return_url }) },
      })
      await audit(tx, call, { target: `device:${device.id}`, result: 'created' })
    })
    return {
      device_id: device.id,
      sender: device.sender,
      name: device.name,
      // Browsers never send the fragment, so that no log of a proxy has it.
      url: `${origin}/link#${secret}`,
      expires_in: linkMs / 1000,
    }
  },
})
