import type { Database } from '../../client.ts'
import { auditLog } from '../../schema/audit-log.ts'

export type { AuditDetail } from '../../schema/audit-log.ts'

export type NewAuditEntry = Omit<typeof auditLog.$inferInsert, 'createdAt'>

/** Call it in the transaction of the change. Never include a secret: entries are kept and cannot be changed. */
export async function insertAuditEntry(db: Pick<Database, 'insert'>, entry: NewAuditEntry): Promise<void> {
  await db.insert(auditLog).values(entry)
}
