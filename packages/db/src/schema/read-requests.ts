import { index, integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'
import { devices } from './devices.ts'

/** Received messages whose contacts are to be told that they were read. The owner of the device deletes them. */
export const readRequests = pgTable(
  'read_requests',
  {
    messageId: uuid('message_id').primaryKey(),
    /** `created_at` of the message: identifies its partition. */
    messageAt: moment('message_at').notNull(),
    deviceId: integer('device_id')
      .notNull()
      .references(() => devices.id, { onDelete: 'cascade' }),
    createdAt: moment('created_at').notNull().defaultNow(),
  },
  (table) => [index('read_requests_device').on(table.deviceId)],
)
