import type postgres from 'postgres'

/** A link within this time after the former one goes on with its warm-up. */
const relinkDays = 30

/** SQL: when the warm-up of the link that is being stored began, for an UPDATE of devices. */
export const warmUpOfLink = (sql: postgres.Sql) => sql`
  CASE WHEN link_generation = 0 OR unlinked_at < now() - ${relinkDays} * interval '1 day' THEN now()
    ELSE coalesce(warm_up_from, created_at) END`

/** SQL: the first day of the warm-up of the row `device`, in UTC days since 1970. */
export const warmUpDay = (sql: postgres.Sql) => sql`
  floor(extract(epoch FROM coalesce(device.warm_up_from, device.created_at)) / 86400)::int`
