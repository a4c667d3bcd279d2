import { openPairingLink } from '@wagate/db/queries/devices/pairing-links'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { audit } from '../changes/audit.ts'
import { hashApiKey, makeApiKey } from '../credentials/api-key.ts'
import { deviceNotFound, getDevice } from '../devices/device-locator.ts'
import { AppError } from '../errors/app-error.ts'
import { deviceFields } from '../objects/device-object.ts'

export const openLink = defineOperation({
  name: 'open-link',
  summary: 'Exchange a one-time link for a session that can only link its sender; used by the link page',
  methods: ['POST'],
  changes: true,
  admits: ['link'],
  parameters: z.object({}),
  fields: z.object({
    device_id: deviceFields.device_id,
    sender: deviceFields.sender,
    name: deviceFields.name,
    title: z.string().nullable().describe('As in `create-link`'),
    return_url: z.string().nullable().describe('As in `create-link`'),
    session: z
      .string()
      .describe(
        'Credential for generate-qr, pair-code, pairing-status and the passkey operations of this sender, in place of an API key',
      ),
    expires_in: z.int().describe('Seconds until the session becomes invalid'),
  }),
  errors: ['device_not_found', 'link_used', 'link_expired'],
  example: {
    given: {},
    answer: {
      device_id: 7,
      sender: '4915112345678',
      name: 'Shop',
      title: 'Example Shop',
      return_url: 'https://shop.example.com/linked',
      session: 'wag_session_…',
      expires_in: 540,
    },
  },
  async handle(_, call) {
    const { accountId, link } = call.principal
    if (!link) throw deviceNotFound()
    const session = makeApiKey('wag_session_')
    const { name } = await getDevice(call, { device_id: link.deviceId })
    const { leftMs, page } = await call.context.db.transaction(async (tx) => {
      const opening = await openPairingLink(tx, accountId, link.id, hashApiKey(session))
      if (opening.outcome === 'used') throw new AppError('link_used', 'This link has already been used.')
      if (opening.outcome !== 'opened') throw new AppError('link_expired', 'This link has expired.')
      await audit(tx, call, { target: `device:${link.deviceId}`, result: 'opened' })
      return opening
    })
    return {
      device_id: link.deviceId,
      sender: link.sender,
      name,
      title: page?.title ?? null,
      return_url: page?.return_url ?? null,
      session,
      expires_in: Math.max(1, Math.floor(leftMs / 1000)),
    }
  },
})
