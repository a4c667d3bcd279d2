import type { Database } from '@wagate/db/client'
import { findAccountInfo } from '@wagate/db/queries/accounts/accounts'
import { listKeys } from '@wagate/db/queries/accounts/api-keys'
import { listContacts } from '@wagate/db/queries/contacts/known-contacts'
import { listOptOuts } from '@wagate/db/queries/contacts/opt-outs'
import { listDevices } from '@wagate/db/queries/devices/devices'
import { listStoredContents } from '@wagate/db/queries/media/media-content'
import { listUploads } from '@wagate/db/queries/media/uploaded-media'
import type { HistoryPosition } from '@wagate/db/queries/messages/message-history'
import { listTimedMessages } from '@wagate/db/queries/messages/message-timeline'
import { listWebhookAttempts } from '@wagate/db/queries/webhooks/webhook-deliveries'
import { listWebhooks } from '@wagate/db/queries/webhooks/webhooks'
import type { MediaStore } from '@wagate/media-store/media-store'
import { lidOf } from '@wagate/shared/contact-key'
import { firstPosition, isEarlier } from '@wagate/shared/event-ids'
import { toEventObject } from '@wagate/shared/objects/event-object'
import { toMessageObject } from '@wagate/shared/objects/message-object'
import { toTimelineObject } from '@wagate/shared/objects/timeline-object'
import type { Config } from '../config.ts'
import type { EventFeed } from '../events/event-feed.ts'
import { toContactFields } from '../objects/contact-fields.ts'
import { toDeviceObject } from '../objects/device-object.ts'
import { toKeyObject } from '../objects/key-object.ts'
import { toOptOutObject } from '../objects/opt-out-object.ts'
import { toUserObject } from '../objects/user-object.ts'
import { toAttemptObject } from '../objects/webhook-attempt-object.ts'
import { toWebhookObject } from '../objects/webhook-object.ts'
import type { ExportPage } from './export-stream.ts'

const rowsMax = 200
const noUuid = '00000000-0000-0000-0000-000000000000'

type Exported = {
  config: Config
  readDb: Database
  events: { feed: Pick<EventFeed, 'start' | 'read'> }
  media: { store: Pick<MediaStore, 'read'> }
}

/**
 * Everything of an account that its own keys can read, page by page. Each page is read by statements of its own, so that no
 * snapshot and no connection is held between two of them. What changes meanwhile may be in the export as before or as after.
 */
export async function* exportPages(
  context: Exported,
  accountId: number,
  signal: AbortSignal,
): AsyncGenerator<ExportPage> {
  const startedAt = new Date()
  const counts: Record<string, number> = {}
  const sections = [
    exportAccount(context, accountId),
    exportKeys(context, accountId),
    exportDevices(context, accountId),
    exportWebhooks(context, accountId),
    exportContacts(context, accountId),
    exportOptOuts(context, accountId),
    exportMessages(context, accountId, startedAt),
    exportEvents(context, accountId, signal),
    exportUploads(context, accountId),
    exportReceivedFiles(context, accountId),
  ]
  for (const section of sections) {
    for await (const page of section) {
      for (const { type } of page) counts[type] = (counts[type] ?? 0) + 1
      yield page
    }
  }
  yield [{ type: 'end', counts }]
}

async function* exportAccount({ readDb, config }: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const account = await findAccountInfo(readDb, accountId)
  if (account) yield [{ type: 'account', ...toUserObject(account, config) }]
}

async function* exportKeys({ readDb }: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const list = (after?: number) => listKeys(readDb, accountId, { after, limit: rowsMax })
  for await (const rows of inPages(list, ({ id }) => id)) {
    yield rows.map((row) => ({ type: 'key', ...toKeyObject(row) }))
  }
}

async function* exportDevices({ readDb, config }: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const list = (after?: number) =>
    listDevices(readDb, accountId, config.devices.statusGraceMs, { after, limit: rowsMax })
  for await (const rows of inPages(list, ({ id }) => id)) {
    yield rows.map((row) => ({ type: 'device', ...toDeviceObject(row, config) }))
  }
}

async function* exportWebhooks({ readDb }: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const webhooks = await listWebhooks(readDb, accountId)
  yield webhooks.map((webhook) => ({ type: 'webhook', ...toWebhookObject(webhook) }))
  for (const { id } of webhooks) {
    const list = (before?: number) =>
      listWebhookAttempts(readDb, accountId, id, { before, limit: rowsMax, onlyFailed: false })
    for await (const rows of inPages(list, ({ number }) => number)) {
      yield rows.map((row) => ({ type: 'webhook_attempt', webhook_id: id, ...toAttemptObject(row) }))
    }
  }
}

/** The people of whom the account knows more than a number. */
async function* exportContacts({ readDb }: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const list = (after = '') => listContacts(readDb, accountId, { after, limit: rowsMax })
  for await (const rows of inPages(list, ({ lidJid }) => lidJid)) {
    yield rows.map(({ lidJid, seenOn, ...known }) => ({
      type: 'contact',
      ...toContactFields({ ...known, lid: lidOf(lidJid) }),
      seen_on: seenOn,
    }))
  }
}

async function* exportOptOuts({ readDb }: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const list = (after?: string) => listOptOuts(readDb, accountId, { after, limit: rowsMax })
  for await (const rows of inPages(list, ({ key }) => key)) {
    yield rows.map((row) => ({ type: 'opt_out', ...toOptOutObject(row) }))
  }
}

/** Oldest first. Those that are accepted or received meanwhile are left out, or the export might never end. */
async function* exportMessages(
  { readDb }: Exported,
  accountId: number,
  startedAt: Date,
): AsyncGenerator<ExportPage> {
  let after: HistoryPosition | undefined
  do {
    const page = await listTimedMessages(readDb, accountId, after, rowsMax)
    yield page.messages.map((message) => ({
      type: 'message',
      message: toMessageObject(message),
      timeline: toTimelineObject(message),
    }))
    const isPresent = (page.messages.at(-1)?.createdAt ?? startedAt) >= startedAt
    after = isPresent ? undefined : page.next
  } while (after)
}

async function* exportEvents(
  { events: { feed } }: Exported,
  accountId: number,
  signal: AbortSignal,
): AsyncGenerator<ExportPage> {
  const end = await feed.start('latest')
  let after = firstPosition
  for (let hasMore = true; hasMore && isEarlier(after, end); ) {
    const page = await feed.read(accountId, { after, limit: rowsMax / 2 }, signal)
    yield page.events.map((event) => ({ type: 'event', event: toEventObject(event) }))
    after = page.next
    hasMore = page.hasMore
  }
}

async function* exportUploads(context: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const list = (after = noUuid) => listUploads(context.readDb, accountId, after, rowsMax)
  for await (const rows of inPages(list, ({ mediaId }) => mediaId)) {
    for (const { mediaId, filename, mime, size, sha256, createdAt, expiresAt } of rows) {
      const upload = { media_id: mediaId, filename, mime, size, sha256 }
      yield [{ type: 'upload', ...upload, created_at: createdAt, expires_at: expiresAt }]
      const file: FileToRead = { name: filename ?? mediaId, mime, size, sha256, uploadId: mediaId }
      yield* readFileParts(context.media.store, accountId, file)
    }
  }
}

/** Each file once, however many messages share it: they have its SHA-256. */
async function* exportReceivedFiles(context: Exported, accountId: number): AsyncGenerator<ExportPage> {
  const list = (after = '') => listStoredContents(context.readDb, accountId, after, rowsMax)
  for await (const rows of inPages(list, ({ sha256 }) => sha256)) {
    for (const { sha256, mime, size, filename } of rows) {
      yield* readFileParts(context.media.store, accountId, { name: filename ?? sha256, mime, size, sha256 })
    }
  }
}

/** Until a page is empty. Each one begins after the last row of the one before, which `keyOf` identifies. */
async function* inPages<Row, Key>(
  list: (after?: Key) => Promise<Row[]>,
  keyOf: (row: Row) => Key,
): AsyncGenerator<Row[]> {
  let last: Row | undefined
  do {
    const rows = await list(last && keyOf(last))
    if (rows.length > 0) yield rows
    last = rows.at(-1)
  } while (last)
}

type FileToRead = { name: string; mime: string; size: number; sha256: string; uploadId?: string }

/** 512 KiB as base64. */
const partBytes = 384 * 1024

/** A line for each part of a file, or one that says that it is not there any more. Nothing is open between two parts. */
async function* readFileParts(
  store: Pick<MediaStore, 'read'>,
  accountId: number,
  { uploadId, size, ...file }: FileToRead,
): AsyncGenerator<ExportPage> {
  const content = { accountId, sha256: file.sha256, ...(uploadId !== undefined && { uploadId }) }
  const parts = Math.max(1, Math.ceil(size / partBytes))
  for (let part = 1; part <= parts; part++) {
    const first = (part - 1) * partBytes
    const last = Math.min(first + partBytes, size) - 1
    const stream = await store.read(content, { first, last })
    if (!stream) {
      yield [{ type: 'missing_file', ...file, size }]
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    yield [{ type: 'file', ...file, size, part, parts, data: Buffer.concat(chunks).toString('base64') }]
  }
}
