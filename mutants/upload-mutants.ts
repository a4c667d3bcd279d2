import type { Mutant } from './mutant.ts'

const queries = 'packages/db/src/queries/uploaded-media.ts'
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
      title: 'names the limit that the account has reached, however many uploads come at once',
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
]
