import type { MessageStatus } from '@wagate/shared/statuses'
import { and, eq } from 'drizzle-orm'
import type { Database } from '../client.ts'
import { messages } from '../schema.ts'
import { createdAround } from './created-around.ts'

export type MessageProgress = { status: MessageStatus; error: string | null; errorCode: string | null }

export async function findMessageProgress(
  db: Database,
  accountId: number,
  messageId: string,
): Promise<MessageProgress | undefined> {
  const [progress] = await db
    .select({ status: messages.status, error: messages.error, errorCode: messages.errorCode })
    .from(messages)
    .where(and(eq(messages.accountId, accountId), eq(messages.id, messageId), createdAround(messageId)))
  return progress
}
