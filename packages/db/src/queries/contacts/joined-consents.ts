import { eventTypes } from '@wagate/shared/event-types'
import type postgres from 'postgres'
import { numberForms } from './number-forms.ts'

/**
 * SQL: steps that make one of what a LID and its number have asked for, by the relations `pairs` that are learnt, and `broken`
 * that end with them. The later of opt-out and opt-in wins. An opt-out stays with each of both, so that it is not lost when
 * WhatsApp names another number or another LID later.
 */
export const joinedConsents = (sql: postgres.Sql) => sql`
  persons AS MATERIALIZED (
    SELECT account_id, lid_jid, number, true AS is_pair FROM pairs
    UNION ALL
    -- In case their opt-out came while they were being learnt.
    SELECT account_id, lid_jid, number, false FROM broken
  ),
  judged AS MATERIALIZED (
    SELECT persons.*, asked.origin, asked.created_at, asked.at, is_pair AND opted_in.at > asked.at IS TRUE AS is_ended
    FROM persons CROSS JOIN LATERAL (
      SELECT coalesce(origin, opt_outs.number) AS origin, created_at, coalesce(asked_at, created_at) AS at
      FROM (
        SELECT lid_jid AS key UNION ALL SELECT form FROM ${numberForms(sql, 'persons.number')} AS forms (form)
        UNION ALL
        SELECT known.key FROM broken CROSS JOIN LATERAL (
          SELECT broken.lid_jid AS key UNION ALL SELECT form FROM ${numberForms(sql, 'broken.number')} AS forms (form)
        ) AS known
        WHERE is_pair AND broken.account_id = persons.account_id AND (broken.lid_jid = persons.lid_jid
          OR broken.number IN (SELECT form FROM ${numberForms(sql, 'persons.number')} AS forms (form)))
      ) AS keys JOIN opt_outs ON opt_outs.account_id = persons.account_id AND opt_outs.number = key
      ORDER BY at DESC, opt_outs.origin IS NOT NULL LIMIT 1
    ) AS asked LEFT JOIN LATERAL (
      SELECT max(opt_ins.created_at) AS at FROM (
        SELECT lid_jid AS key UNION ALL SELECT form FROM ${numberForms(sql, 'persons.number')} AS forms (form)
      ) AS keys JOIN opt_ins ON opt_ins.account_id = persons.account_id AND opt_ins.number = key
    ) AS opted_in ON true
  ),
  ended AS (
    DELETE FROM opt_outs USING judged
    WHERE is_ended AND opt_outs.account_id = judged.account_id AND opt_outs.number IN (
      SELECT lid_jid UNION ALL SELECT form FROM ${numberForms(sql, 'judged.number')} AS forms (form)
      UNION ALL
      SELECT left_behind.number FROM opt_outs AS left_behind
      WHERE left_behind.account_id = judged.account_id AND left_behind.origin = judged.lid_jid)
    RETURNING judged.account_id, judged.number
  ),
  told_ends AS (
    INSERT INTO events (account_id, type, data)
    SELECT DISTINCT account_id, ${sql.unsafe(String(eventTypes['recipient.opted_in']))}::smallint,
      jsonb_build_object('number', number) FROM ended
  ),
  kept AS (
    INSERT INTO opt_outs (account_id, number, origin, created_at, asked_at)
    SELECT DISTINCT ON (account_id, key) account_id, key, nullif(origin, key), created_at, at
    FROM judged CROSS JOIN LATERAL (VALUES (lid_jid), (number)) AS keys (key)
    WHERE NOT is_ended AND NOT EXISTS (
      SELECT FROM opt_outs AS known WHERE known.account_id = judged.account_id
        AND known.number IN (SELECT form FROM ${numberForms(sql, 'key')} AS forms (form)))
      AND NOT EXISTS (
        SELECT FROM judged AS other WHERE other.is_ended AND other.account_id = judged.account_id
          AND (key IN (other.lid_jid, other.number) OR judged.lid_jid = other.lid_jid))
    ORDER BY account_id, key, at DESC
    ON CONFLICT ON CONSTRAINT opt_outs_pk DO NOTHING
  ),
  -- The number may belong to another person later.
  claimed_opt_ins AS (
    DELETE FROM opt_ins USING pairs CROSS JOIN LATERAL ${numberForms(sql, 'pairs.number')} AS forms (form)
    WHERE opt_ins.account_id = pairs.account_id AND opt_ins.number = form
    RETURNING pairs.account_id, pairs.lid_jid, opt_ins.created_at
  ),
  moved_opt_ins AS (
    INSERT INTO opt_ins AS known (account_id, number, created_at)
    SELECT account_id, lid_jid, max(created_at) FROM claimed_opt_ins GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT ON CONSTRAINT opt_ins_pk DO UPDATE SET created_at = greatest(known.created_at, excluded.created_at)
  )`
