import type { Mutant } from './mutant.ts'

const queries = 'packages/db/src/queries/media/uploaded-media.ts'
const uploads = 'apps/api/test/upload-media.test.ts'
const sends = 'apps/api/test/send-uploaded.test.ts'
const retention = {
  file: 'apps/worker/test/media-retention.test.ts',
  title:
    'removes uploaded files once no message can be waiting for them, and what was never stored completely',
}

/** Files that come with requests: in data: URLs, or uploaded for later. */
export const uploadMutants: Mutant[] = [
  {
    name: 'no key for a file without one',
    file: 'apps/api/src/messages/send.ts',
    text: 'given ?? (mustHave ? call.makeIdempotencyKey() : undefined)',
    replacement: 'given',
    test: {
      file: 'apps/api/test/unknown-outcome.test.ts',
      title: 'a 503 for a file names a key with which the message that was stored is found',
    },
  },
  {
    name: 'large data that never lets others run',
    file: 'apps/api/src/http/in-slices.ts',
    text: 'endedAt - turnAt <= idleTurnMsMax || ',
    replacement: 'endedAt >= turnAt || ',
    test: {
      file: 'apps/api/test/in-slices.test.ts',
      title: 'large data waits for others who need several turns',
      written: { title: 'large data waits for %s' },
    },
  },
  {
    name: 'uploaded file of another account',
    file: queries,
    text: 'WHERE media_id = ${mediaId} AND account_id = ${accountId} AND stored_at IS NOT NULL',
    replacement: 'WHERE media_id = ${mediaId} AND stored_at IS NOT NULL',
    test: { file: sends, title: 'refuses one of another account as one that does not exist' },
  },
  {
    name: 'uploaded file that has expired',
    file: queries,
    text: 'AND expires_at > greatest(now(), coalesce(${forMessage.sendAt}::timestamptz, now()))',
    replacement: '',
    test: { file: sends, title: 'refuses one that has expired, will have by send_at, or is not stored' },
  },
  {
    name: 'the quota of uploads without the lock of its account',
    file: queries,
    text: 'await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.uploadsOfAccount}, ${accountId})`',
    replacement: '',
    test: {
      file: uploads,
      title: 'names the limit that the account has reached, however many uploads come at the same time',
    },
  },
  {
    name: 'uploaded file removed while messages may wait for it',
    file: queries,
    text: 'expires_at < now() - ${keptMs}::float8',
    replacement: 'expires_at < now() - 0 * ${keptMs}::float8',
    test: retention,
  },
  {
    name: 'unfinished uploads kept for ever',
    file: queries,
    text: 'OR (stored_at IS NULL AND created_at',
    replacement: 'OR (stored_at IS NULL AND false AND created_at',
    test: retention,
  },
  {
    name: 'a broken-off upload left in the staging folder',
    file: 'apps/api/src/http/receive-file.ts',
    text: '    await remove()\n    throw error',
    replacement: '    throw error',
    test: { file: uploads, title: 'leaves nothing when the client breaks off' },
  },
  {
    name: 'uploads of an account without a share',
    file: 'apps/api/src/make-gateway.ts',
    text: 'shareMax: uploadFiles.account * largestBytesMax',
    replacement: 'shareMax: uploadFiles.process * largestBytesMax',
    test: {
      file: 'apps/api/test/upload-room.test.ts',
      title: 'a file of a known size that arrives slowly takes its room from its own account alone',
      written: { title: 'a file %s that arrives slowly takes its room from its own account alone' },
    },
  },
  {
    name: 'an upload that takes no room',
    file: 'apps/api/src/uploads/stage-upload.ts',
    text: 'acquire(account, bytes, wait.signal)',
    replacement: 'acquire(account, 0, wait.signal)',
    test: {
      file: 'apps/api/test/upload-room.test.ts',
      title: 'files of many accounts have no more bytes together than there is room for',
    },
  },
  {
    name: 'an upload that waits for a silent store',
    file: 'apps/api/src/operations/upload-media.ts',
    text: 'within(putMsMax, ',
    replacement: 'within(2 * putMsMax, ',
    test: {
      file: 'apps/api/test/upload-outcomes.test.ts',
      title: 'a store that does not answer leaves the file to housekeeping, because it may still arrive',
    },
  },
  {
    name: 'an upload with a 503 that counts for a week',
    file: 'apps/api/src/operations/upload-media.ts',
    text: "given up while it was being stored')\n    deadline.signal.throwIfAborted()",
    replacement: "given up while it was being stored')",
    test: {
      file: 'apps/api/test/upload-outcomes.test.ts',
      title: 'a file does not count when its caller was told too early that it is not stored',
    },
  },
]
