import { index, integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'
import { devices } from './devices.ts'

/** Received messages of which the contact is to learn that they were read. Rows are deleted when that is done. */
export const readRequests = pgTable(
  'read_requests',
  {
    messageId: uuid('message_id').primaryKey(),
    /** Of the message: identifies its partition. */
    messageAt: moment('message_at').notNull(),
    deviceId: integer('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
  },
  (table) => [index('read_requests_device').on(table.deviceId)],
)
