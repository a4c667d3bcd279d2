import * as accountDeletions from './schema/account-deletions.ts'
import * as accounts from './schema/accounts.ts'
import * as auditLog from './schema/audit-log.ts'
import * as contacts from './schema/contacts.ts'
import * as devices from './schema/devices.ts'
import * as events from './schema/events.ts'
import * as idempotencyKeys from './schema/idempotency-keys.ts'
import * as installation from './schema/installation.ts'
import * as mailedLinks from './schema/mailed-links.ts'
import * as media from './schema/media.ts'
import * as messageCounts from './schema/message-counts.ts'
import * as messages from './schema/messages.ts'
import * as optOuts from './schema/opt-outs.ts'
import * as pairingLinks from './schema/pairing-links.ts'
import * as readRequests from './schema/read-requests.ts'
import * as receivedMedia from './schema/received-media.ts'
import * as sessions from './schema/sessions.ts'
import * as streamTokens from './schema/stream-tokens.ts'
import * as uploadedMedia from './schema/uploaded-media.ts'
import * as webhooks from './schema/webhooks.ts'
import * as workers from './schema/workers.ts'
import * as writeKeys from './schema/write-keys.ts'

/** All tables. A query imports its tables from their files. */
export const schema = {
  ...accountDeletions,
  ...accounts,
  ...auditLog,
  ...contacts,
  ...devices,
  ...events,
  ...idempotencyKeys,
  ...installation,
  ...mailedLinks,
  ...media,
  ...messageCounts,
  ...messages,
  ...optOuts,
  ...pairingLinks,
  ...readRequests,
  ...sessions,
  ...streamTokens,
  ...webhooks,
  ...receivedMedia,
  ...uploadedMedia,
  ...workers,
  ...writeKeys,
}
