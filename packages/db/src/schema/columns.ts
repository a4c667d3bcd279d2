import { customType, integer, timestamp } from 'drizzle-orm/pg-core'

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
export const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' })
export const moment = (name: string) => timestamp(name, { withTimezone: true })

/** 0 is unlimited. Null takes the next default: for a device the account's, then that of the environment. */
export const pacing = {
  ratePerMinute: integer('rate_per_minute'),
  burst: integer(),
  dailyCap: integer('daily_cap'),
  newContactsPerDay: integer('new_contacts_per_day'),
}
