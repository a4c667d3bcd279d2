import { pauseModes } from '@wagate/shared/sender-pause'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { applyPause, pauseDaysMax } from '../devices/apply-pause.ts'
import { deviceLocator } from '../devices/device-locator.ts'
import { deviceObject, exampleDevice } from '../objects/device-object.ts'
import { moment } from '../parameters/parameter-types.ts'

export const pauseSender = defineOperation({
  name: 'pause-sender',
  summary: 'Let the messages of a sender wait, and accept further ones or refuse them',
  methods: ['GET', 'POST'],
  changes: true,
  parameters: z.object({
    ...deviceLocator,
    mode: z
      .enum(pauseModes)
      .optional()
      .describe(
        '`hold`, by default: messages are accepted, and wait. `refuse`: sends fail with `sender_paused`, and what was accepted waits. What is on its way to WhatsApp arrives in any case',
      ),
    until: moment
      .optional()
      .describe(
        `Time at which the pause ends, up to ${pauseDaysMax} days ahead. By default it lasts until \`resume-sender\``,
      ),
  }),
  fields: deviceObject,
  errors: ['missing_parameter', 'device_not_found'],
  example: {
    given: { device_id: 7, until: '2026-01-31T18:00:00Z' },
    answer: { ...exampleDevice, sending: 'held', sending_until: '2026-01-31T18:00:00.000Z' },
  },
  handle: ({ mode = 'hold', until = null, ...located }, call) => applyPause(call, located, { mode, until }),
})
