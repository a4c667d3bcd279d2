import { z } from 'zod'
import { deviceStatuses } from '../statuses.ts'
import { extensibleEnum } from './extensible-enum.ts'
import { exampleMessage, messageObject } from './message-object.ts'

/** `when`: a sentence for the documentation. `example`: of the fields that only this type has. */
export type EventKind = { when: string; data: z.ZodObject; example: Record<string, unknown> }

const messageFields = {
  message_id: z.uuid(),
  message: messageObject
    .nullable()
    .describe(
      'The message as it is when the event is read, so its status may be a later one. null after its retention period',
    ),
}

const deviceFields = {
  device: z
    .object({
      device_id: z.int(),
      sender: z.string(),
      name: z.string().describe('Name when the event is read'),
      status: extensibleEnum(deviceStatuses)
        .optional()
        .describe('Status that the event gave the device. Absent if it changes no status'),
    })
    .nullable()
    .describe('null for a deleted device that has been removed'),
}

const ofMessage = z.object(messageFields)
const ofDevice = z.object(deviceFields)
const ofWebhook = z.object({ webhook_id: z.int() })
const ofRecipient = z.object({
  number: z.string().nullable().describe('Phone number in digits. null when WhatsApp does not tell it'),
  lid: z.string().nullable().describe('LID in digits, of a recipient without a known number'),
})

export function messageData(when: string, fields?: z.ZodRawShape, example = {}): EventKind {
  return { when, data: fields ? ofMessage.extend(fields) : ofMessage, example }
}

export function deviceData(when: string, fields?: z.ZodRawShape, example = {}): EventKind {
  return { when, data: fields ? ofDevice.extend(fields) : ofDevice, example }
}

export function webhookData(when: string, fields?: z.ZodRawShape, example = {}): EventKind {
  return { when, data: fields ? ofWebhook.extend(fields) : ofWebhook, example: { webhook_id: 3, ...example } }
}

export function recipientData(when: string): EventKind {
  return { when, data: ofRecipient, example: { number: exampleMessage.number, lid: null } }
}
