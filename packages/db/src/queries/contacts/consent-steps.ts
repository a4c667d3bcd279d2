import { eventTypes } from '@wagate/shared/event-types'
import type postgres from 'postgres'
import { formsOf, numberForms } from './number-forms.ts'

/** What a contact asks for with a message: no more messages of the account, or messages again. */
export type Consent = 'opt-out' | 'opt-in'

/**
 * SQL text: steps that carry out what is `asked` (`account_id`, `key` of the contact, `number` if it is known besides, `consent`),
 * each person once. An opt-out is stored under every key of the person that is known. An opt-in ends all of them, and those
 * that its opt-out left under former numbers. Each change has an event.
 */
export const askedSteps = `
  own_keys AS MATERIALIZED (
    SELECT account_id, key, consent, key AS own FROM asked
    UNION
    SELECT account_id, key, consent, number FROM asked WHERE number IS NOT NULL
    UNION
    SELECT account_id, key, consent, known.number FROM asked JOIN contacts AS known USING (account_id)
    WHERE known.lid_jid = key AND known.number IS NOT NULL
    UNION
    SELECT account_id, key, consent, known.lid_jid
    FROM asked CROSS JOIN LATERAL ${formsOf('key')} AS forms (form) JOIN contacts AS known USING (account_id)
    WHERE known.number = form
  ),
  -- With both forms of a number. is_stored: an opt-out is stored under it.
  person AS MATERIALIZED (
    SELECT account_id, key, consent, form AS member, form = own AS is_stored, form LIKE '%@lid' AS is_lid,
      form IN (SELECT own_form FROM ${formsOf('key')} AS forms (own_form)) AS is_asked
    FROM own_keys CROSS JOIN LATERAL ${formsOf('own')} AS forms (form) WHERE form IS NOT NULL
  ),
  -- In one order everywhere: statements that lock rows in different orders could deadlock.
  known_opt_outs AS MATERIALIZED (
    SELECT account_id, number, key, consent, is_lid, is_asked
    FROM person JOIN opt_outs USING (account_id) WHERE opt_outs.number = member
    ORDER BY account_id, number FOR UPDATE OF opt_outs
  ),
  asked_again AS (
    UPDATE opt_outs SET asked_at = now(), origin = CASE WHEN is_asked THEN NULL ELSE origin END
    FROM known_opt_outs AS known
    WHERE known.consent = 'opt-out' AND opt_outs.account_id = known.account_id AND opt_outs.number = known.number
  ),
  opted_out AS (
    INSERT INTO opt_outs (account_id, number, origin, asked_at)
    SELECT DISTINCT ON (account_id, member) account_id, member, CASE WHEN NOT is_asked THEN key END, now()
    FROM person WHERE consent = 'opt-out' AND is_stored AND NOT EXISTS (
      SELECT FROM known_opt_outs AS known WHERE known.account_id = person.account_id AND known.key = person.key
        AND (known.number = member OR NOT known.is_lid AND NOT person.is_lid))
    ORDER BY account_id, member, is_asked DESC
    ON CONFLICT ON CONSTRAINT opt_outs_pk DO NOTHING RETURNING account_id, number
  ),
  ending AS MATERIALIZED (
    SELECT account_id, number, key, is_lid FROM known_opt_outs WHERE consent = 'opt-in'
    UNION
    SELECT account_id, opt_outs.number, key, opt_outs.number LIKE '%@lid'
    FROM person JOIN opt_outs USING (account_id)
    WHERE consent = 'opt-in' AND opt_outs.origin = member AND (is_asked OR is_lid) AND NOT EXISTS (
      SELECT FROM person AS other WHERE other.consent = 'opt-out' AND other.account_id = opt_outs.account_id
        AND other.member = opt_outs.number)
  ),
  opted_in AS (
    DELETE FROM opt_outs USING ending
    WHERE opt_outs.account_id = ending.account_id AND opt_outs.number = ending.number
    RETURNING opt_outs.account_id, opt_outs.number
  ),
  noted_opt_ins AS (
    INSERT INTO opt_ins (account_id, number)
    SELECT DISTINCT account_id, member FROM person
    WHERE consent = 'opt-in' AND (is_lid OR member = key AND NOT EXISTS (
      SELECT FROM person AS other
      WHERE other.account_id = person.account_id AND other.key = person.key AND other.is_lid))
    ORDER BY account_id, member
    ON CONFLICT ON CONSTRAINT opt_ins_pk DO UPDATE SET created_at = excluded.created_at
  ),
  told_consents AS (
    INSERT INTO events (account_id, type, data)
    SELECT account_id, type, jsonb_build_object('number', number) FROM (
      SELECT DISTINCT ON (account_id, key) account_id, coalesce(member, key) AS number,
        ${eventTypes['recipient.opted_out']} AS type
      FROM person JOIN opted_out USING (account_id)
      WHERE is_stored AND opted_out.number IN (
        SELECT other.member FROM person AS other WHERE other.account_id = person.account_id AND other.key = person.key)
        AND NOT EXISTS (SELECT FROM known_opt_outs AS known
          WHERE known.account_id = person.account_id AND known.key = person.key)
      ORDER BY account_id, key, is_lid
    ) AS new_opt_outs
    UNION ALL
    SELECT account_id, ${eventTypes['recipient.opted_in']}, jsonb_build_object('number', number) FROM (
      SELECT DISTINCT ON (account_id, key) account_id, number
      FROM ending JOIN opted_in USING (account_id, number) ORDER BY account_id, key, is_lid
    ) AS ended
    RETURNING type
  )`

/** Steps of the statement that stores received messages (`given`, `stored`). The last message of a person decides. */
export function consentSteps(sql: postgres.Sql) {
  const isLid = sql`contact_jid LIKE '%@lid'`
  return sql`,
    asked AS MATERIALIZED (
      SELECT DISTINCT ON (account_id, person) account_id, key, number, consent FROM (
        SELECT account_id, consent, position, CASE WHEN ${isLid} THEN contact_jid ELSE contact_key END AS key,
          CASE WHEN ${isLid} THEN nullif(contact_key, contact_jid) END AS number,
          coalesce(CASE WHEN ${isLid} THEN contact_jid END, (
            SELECT lid_jid FROM contacts
            WHERE contacts.account_id = given.account_id AND contacts.number IN (
              SELECT form FROM ${numberForms(sql, 'contact_key')} AS forms (form)) LIMIT 1
          ), (SELECT min(form) FROM ${numberForms(sql, 'contact_key')} AS forms (form))) AS person
        FROM given WHERE id IN (SELECT id FROM stored) AND consent IS NOT NULL AND contact_key <> ''
      ) AS said
      ORDER BY account_id, person, position DESC
    ),
    ${sql.unsafe(askedSteps)}`
}
