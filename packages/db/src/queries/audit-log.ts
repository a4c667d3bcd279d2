import type { Database } from '../client.ts'
import { auditLog } from '../schema.ts'

export type NewAuditEntry = Omit<typeof auditLog.$inferInsert, 'createdAt'>

/** In the transaction of what it tells. Never a secret: entries are kept for long and cannot be changed. */
export async function insertAuditEntry(db: Pick<Database, 'insert'>, entry: NewAuditEntry): Promise<void> {
  await db.insert(auditLog).values(entry)
}
