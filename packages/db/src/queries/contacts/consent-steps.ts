import { eventTypes } from '@wagate/shared/event-types'
import type postgres from 'postgres'
import { numberForms } from './number-forms.ts'

/** What a contact asks for with a message: no more messages of the account, or messages again. */
export type Consent = 'opt-out' | 'opt-in'

/**
 * Steps of the statement that stores received messages (`given`, `inserted`). The last message of a number decides. As
 * `insertOptOut` and `deleteOptOut`, they record an event for each change.
 */
export function consentSteps(sql: postgres.Sql) {
  const forms = sql`(SELECT form FROM ${numberForms(sql, sql`asked.number`)} AS forms (form))`
  return sql`,
    asked AS (
      SELECT DISTINCT ON (account_id, contact_key) account_id, contact_key AS number, consent
      FROM given WHERE id IN (SELECT id FROM inserted) AND consent IS NOT NULL AND contact_key <> ''
      ORDER BY account_id, contact_key, position DESC
    ),
    opted_out AS (
      INSERT INTO opt_outs (account_id, number)
      SELECT account_id, number FROM asked
      WHERE consent = 'opt-out' AND NOT EXISTS (
        SELECT FROM opt_outs AS known WHERE known.account_id = asked.account_id AND known.number IN ${forms})
      ON CONFLICT ON CONSTRAINT opt_outs_pk DO NOTHING RETURNING account_id, number
    ),
    opted_in AS (
      DELETE FROM opt_outs USING asked
      WHERE asked.consent = 'opt-in' AND opt_outs.account_id = asked.account_id AND opt_outs.number IN ${forms}
      RETURNING opt_outs.account_id, opt_outs.number
    ),
    told_consents AS (
      INSERT INTO events (account_id, type, data)
      SELECT account_id, type, jsonb_build_object('number', number) FROM (
        SELECT account_id, number, ${sql.unsafe(String(eventTypes['recipient.opted_out']))} AS type FROM opted_out
        UNION ALL
        SELECT account_id, number, ${sql.unsafe(String(eventTypes['recipient.opted_in']))} FROM opted_in
      ) AS changed
    )`
}
