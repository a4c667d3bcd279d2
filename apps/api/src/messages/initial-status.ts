import type { NewMessage } from '@wagate/db/queries/messages/accept-messages'

export function initialStatus({ sendAt }: Pick<NewMessage, 'sendAt'>): 'queued' | 'scheduled' {
  return sendAt === null ? 'queued' : 'scheduled'
}
