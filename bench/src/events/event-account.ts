import type { Database } from '@wagate/db/client'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { type Gateway, openGateway } from '@wagate/test-kit/load/pooled-client'
import type { System } from '@wagate/test-kit/system'

/** An account with linked senders, in whose name events are caused. */
export type EventAccount = { db: Database; gateway: Gateway; accountId: number; senders: string[] }

/** The account of the administrator. */
export async function openEventAccount(
  system: System,
  db: Database,
  senders: string[],
): Promise<EventAccount> {
  const { gateway } = system
  await linkSenders(system, senders)
  const { body } = await gateway.call('user-info', {})
  return { db, gateway, accountId: Number(body.id), senders }
}

/** Another account. Close its gateway. */
export async function openOtherAccount(
  system: System,
  db: Database,
  senders: string[],
): Promise<EventAccount> {
  const email = `other-${Date.now()}@example.com`
  const user = await system.gateway.call('create-user', { email, password: 'correct horse battery' })
  const gateway = openGateway(system.devnet.apiUrl, String(user.body.api_key), 4)
  await linkSenders({ ...system, gateway }, senders)
  return { db, gateway, accountId: Number(user.body.user_id), senders }
}
