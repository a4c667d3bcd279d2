import { z } from 'zod'
import { messageStatuses } from './statuses.ts'

/** What an owner tells waiting requests: over Redis pub/sub, and QR codes also in a retained key. */
export const deviceEventSchema = z.discriminatedUnion('kind', [
  /** `text` is what the QR encodes; `epoch` is the shard's, so that a former owner's QR is recognised. */
  z.object({ kind: z.literal('qr'), epoch: z.number().int(), text: z.string(), expiresAtMs: z.number() }),
  z.object({ kind: z.literal('status'), connected: z.boolean(), reason: z.string().nullable() }),
  /** `epoch` as above. The code links like the QR code that is shown at the same time. */
  z.object({
    kind: z.literal('pairing-code'),
    epoch: z.number().int(),
    code: z.string(),
    expiresAtMs: z.number(),
  }),
  /**
   * WhatsApp asks for the passkey of the account: `options` are those of WebAuthn as JSON, `code` is what the phone shows
   * after that, and null until then.
   */
  z.object({
    kind: z.literal('passkey'),
    epoch: z.number().int(),
    options: z.string().nullable(),
    code: z.string().nullable(),
    expiresAtMs: z.number(),
  }),
  /** WhatsApp refused the passkey, with this error, or `timeout`. */
  z.object({ kind: z.literal('passkey-refused'), error: z.string() }),
  /** There is no code, because the proxy of the sender gave no connection. */
  z.object({ kind: z.literal('proxy-failed'), detail: z.string().nullable() }),
  /** WhatsApp refused to give out a pairing code, with this error. */
  z.object({ kind: z.literal('pairing-code-refused'), error: z.string() }),
  /** `jid` null: the number is not on WhatsApp. */
  z.object({ kind: z.literal('number'), number: z.string(), jid: z.string().nullable() }),
  /** Too many devices of the account, or of the worker, show a QR code already. */
  z.object({ kind: z.literal('pairing-refused') }),
  z.object({
    kind: z.literal('message'),
    messageId: z.string(),
    status: z.enum(messageStatuses),
    /** Postgres has this status, and no error. Workers of the previous version do not say it. */
    isStored: z.boolean().optional(),
  }),
])

export type DeviceEvent = z.infer<typeof deviceEventSchema>
export type QrEvent = Extract<DeviceEvent, { kind: 'qr' }>
export type PasskeyEvent = Extract<DeviceEvent, { kind: 'passkey' }>
export type PairingCodeEvent = Extract<DeviceEvent, { kind: 'pairing-code' }>
