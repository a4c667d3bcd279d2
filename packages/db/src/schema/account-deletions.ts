import { index, integer, jsonb, pgTable, unique } from 'drizzle-orm/pg-core'
import { bytea, moment } from './columns.ts'

/** Accounts that are being deleted, and the proof of those that are. No foreign key: it outlives the account. */
export const accountDeletions = pgTable(
  'account_deletions',
  {
    accountId: integer('account_id').primaryKey(),
    /** Of the secret with which anybody reads the proof. */
    proofHash: bytea('proof_hash').notNull(),
    requestedAt: moment('requested_at').notNull().defaultNow(),
    /** From then on everything is deleted. */
    dueAt: moment('due_at').notNull(),
    /** When nothing was left. */
    finishedAt: moment('finished_at'),
    /** How much of what was deleted, such as `{ messages: 120 }`. */
    deleted: jsonb().$type<Record<string, number>>().notNull().default({}),
  },
  (table) => [
    unique('account_deletions_proof_hash').on(table.proofHash),
    index('account_deletions_due_at').on(table.dueAt),
  ],
)
