import { listDevices } from '@wagate/db/queries/devices/devices'
import { deviceStatuses } from '@wagate/shared/statuses'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { deviceObject, exampleDevice, toDeviceObject } from '../objects/device-object.ts'
import { pageFields, pageParameters, readRecordPage } from '../objects/record-page.ts'
import { oneOf } from '../parameters/parameter-types.ts'

export const devices = defineOperation({
  name: 'devices',
  summary: 'List the senders of the account',
  methods: ['GET'],
  changes: false,
  parameters: z.object({
    ...pageParameters('device_id'),
    status: oneOf(deviceStatuses).optional().describe('Only senders with this status'),
  }),
  fields: z.object({
    devices: z.array(deviceObject).describe('Sorted by `device_id`'),
    ...pageFields,
  }),
  example: { given: {}, answer: { devices: [exampleDevice], has_more: false, next_after: null } },
  async handle({ limit, ...query }, { context: { db, config }, principal }) {
    const { records, ...page } = await readRecordPage(limit, (rows) =>
      listDevices(db, principal.accountId, config.devices.statusGraceMs, { ...query, limit: rows }),
    )
    return { devices: records.map((device) => toDeviceObject(device, config)), ...page }
  },
})
