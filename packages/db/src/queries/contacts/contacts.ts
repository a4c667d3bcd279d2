import type postgres from 'postgres'
import { historyChatType, tokenHolderType } from '../credentials/device-auth.ts'
import { numberForms } from './number-forms.ts'

type Fragment = postgres.PendingQuery<postgres.Row[]>

/** A contact without messages for this long is a new one again, and counts again. */
export const contactDays = 30
/** WhatsApp accepts a privacy token for four weeks. */
const tokenDays = 28

/** SQL: that `created_at` is within the time for which a contact is known or counts. */
export const isLately = (sql: postgres.Sql) =>
  sql`created_at BETWEEN now() - ${contactDays} * interval '1 day' AND now()`

/** SQL: the values of `device_auth` whose ids are numbers of known contacts. */
const isContactValue = (sql: postgres.Sql) => sql`(
  type = ${tokenHolderType} AND used_on > CURRENT_DATE - ${tokenDays}::int
  OR type = ${historyChatType} AND used_on > CURRENT_DATE - ${contactDays}::int)`

/**
 * SQL: the numbers that the device has recently written to or received from, in both their forms, or whose privacy token it
 * holds, or who wrote to its account before the link, or that count towards its budget. IS TRUE keeps the planner from turning this into a join: Postgres hashes the
 * contacts once and reads the messages in their order, up to the limit. With 110,000 waiting messages and none for a
 * contact, this takes 150 ms, and a join more than 6 s.
 */
export const isToContact = (
  sql: postgres.Sql,
  deviceId: number,
  which: 'known' | 'known or counted',
): Fragment => sql`
  AND (number IN (
    SELECT form FROM (
      SELECT DISTINCT number FROM messages
      WHERE device_id = ${deviceId} AND (sent_at IS NOT NULL OR direction = 'in') AND ${isLately(sql)}
      UNION ALL
      SELECT id FROM device_auth WHERE device_id = ${deviceId} AND ${isContactValue(sql)}
      UNION ALL
      SELECT known.number FROM device_auth JOIN devices ON devices.id = device_id
      JOIN contacts AS known ON known.account_id = devices.account_id AND known.lid_jid = device_auth.id
      WHERE device_id = ${deviceId} AND ${isContactValue(sql)} AND known.number IS NOT NULL
      ${which === 'known' ? sql`` : sql`UNION ALL SELECT number FROM new_contacts WHERE device_id = ${deviceId} AND ${isLately(sql)}`}
    ) AS contact, LATERAL ${numberForms(sql, 'contact.number')} AS forms (form)
    WHERE form IS NOT NULL
  )) IS TRUE`

/** SQL: whether a single message, a row of this name, goes to a known contact or to one that counts already. */
export const isKnownOrCounted = (
  sql: postgres.Sql,
  message: string,
  which: 'known' | 'known or counted' = 'known or counted',
): Fragment => {
  const row = (column: string) => sql(`${message}.${column}`)
  return sql`EXISTS (
    SELECT FROM ${numberForms(sql, `${message}.number`)} AS forms (form)
    WHERE form IS NOT NULL AND (
      EXISTS (SELECT FROM messages AS earlier
        WHERE earlier.account_id = ${row('account_id')} AND earlier.number = form
          AND earlier.device_id = ${row('device_id')} AND (sent_at IS NOT NULL OR direction = 'in')
          AND ${isLately(sql)})
      OR EXISTS (SELECT FROM device_auth
        WHERE device_id = ${row('device_id')} AND ${isContactValue(sql)} AND id IN (
          SELECT form UNION ALL SELECT lid_jid FROM contacts AS known
          WHERE known.account_id = ${row('account_id')} AND known.number = form))
      ${which === 'known' ? sql`` : sql`OR EXISTS (SELECT FROM new_contacts WHERE device_id = ${row('device_id')} AND new_contacts.number = form AND ${isLately(sql)})`}))`
}
