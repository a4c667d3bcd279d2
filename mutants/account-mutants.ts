import type { Mutant } from './mutant.ts'

const ofDisabled = 'apps/api/test/disabled-accounts.test.ts'
const ofDeletions = 'apps/worker/test/account-deletions.test.ts'
const removal = 'packages/db/src/queries/retention/account-removal.ts'
const notBefore =
  'nothing is deleted before it is due, or before the senders are logged out for a day at most'

/** Accounts that are disabled, deleted and exported. */
export const accountMutants: Mutant[] = [
  {
    name: 'keys of disabled accounts admitted',
    file: 'apps/api/src/credentials/api-key-cache.ts',
    text: 'if (principal.accountDisabledAt) throw accountDisabled()',
    replacement: 'if (principal.keyId < 0) throw accountDisabled()',
    test: { file: ofDisabled, title: 'is refused in every process, and admitted again once it is enabled' },
  },
  {
    name: 'links to files of disabled accounts opened',
    file: 'apps/api/src/received-media/media-links.ts',
    text: 'return linked && (await isAccountEnabled(db, linked.accountId)) ? linked : undefined',
    replacement: 'return linked && (await isAccountEnabled(db, linked.accountId)) ? linked : linked',
    test: { file: ofDisabled, title: 'has no link to a received file that works' },
  },
  {
    name: 'last ADMIN disabled',
    file: 'packages/db/src/queries/accounts/accounts.ts',
    text: 'return isAdmin && !isDisabled &&',
    replacement: 'return isAdmin &&',
    test: {
      file: ofDisabled,
      title: 'one active ADMIN always remains, even when all disable each other concurrently',
    },
  },
  {
    name: 'senders of disabled accounts connected',
    file: 'apps/worker/src/device/plan.ts',
    text: "return facts.isAccountDisabled ? 'suspend' : 'connect'",
    replacement: "return 'connect'",
    test: {
      file: 'apps/worker/test/intent.test.ts',
      title: 'of a disabled account: linked true, credentials true, pairing false, removable false: suspend',
      written: {
        title: 'of a disabled account: linked %s, credentials %s, pairing %s, removable %s: %s',
      },
    },
  },
  {
    name: 'webhooks of disabled accounts delivered',
    file: 'packages/db/src/queries/webhooks/webhook-leases.ts',
    text: 'accounts.disabled_at IS NOT NULL))`',
    replacement: 'false))`',
    test: {
      file: 'apps/worker/test/webhook-ownership.test.ts',
      title: 'the webhooks of a disabled account wait, and what happened meanwhile is delivered afterwards',
    },
  },
  {
    name: 'own account deleted without its password',
    file: 'apps/api/src/operations/delete-account.ts',
    text: 'owner: await checkOwnPassword(call, password as string) ',
    replacement: '',
    test: {
      file: 'apps/api/test/delete-account.test.ts',
      title: 'needs the password of the account, or an ADMIN',
    },
  },
  {
    name: 'table forgotten by the deletion of accounts',
    file: removal,
    text: "  kind('opt_outs', 'opt_outs'),\n",
    replacement: '',
    test: {
      file: ofDeletions,
      title: 'every table that holds something of an account is deleted, or known to be kept',
    },
  },
  {
    name: 'file of a deleted account kept',
    file: 'packages/db/src/queries/retention/account-files.ts',
    text: 'await remove({ accountId, sha256 })',
    replacement: '',
    test: {
      file: ofDeletions,
      title: 'nothing of a deleted account remains, and everything of another does',
    },
  },
  {
    name: 'account deleted before its senders are logged out',
    file: removal,
    text: 'AND coalesce(deleted_at, now()) > now() - ${logoutMax}::interval)',
    replacement: 'AND coalesce(deleted_at, now()) > now() - ${logoutMax}::interval AND false)',
    test: { file: ofDeletions, title: notBefore },
  },
  {
    name: 'deletion canceled that is under way',
    file: 'packages/db/src/queries/retention/account-deletions.ts',
    text: 'and(eq(accountDeletions.deleted, {}), gt(accountDeletions.dueAt, sql`now()`))',
    replacement: 'and(gt(sql`now()`, accountDeletions.requestedAt))',
    test: { file: ofDeletions, title: notBefore },
  },
  {
    name: 'rows deleted by two processes at a time',
    file: removal,
    text: "AND deleted <> '{}' AND finished_at IS NULL FOR UPDATE`",
    replacement: "AND deleted <> '{}' AND finished_at IS NULL`",
    test: {
      file: ofDeletions,
      title: 'a process that has waited for another sees what that one has deleted',
    },
  },
  {
    name: 'messages of one moment left out of an export',
    file: 'packages/db/src/queries/messages/message-timeline.ts',
    text: '(${messages.createdAt}, ${messages.id}) > (${at}, ${id}::uuid)',
    replacement: '${messages.createdAt} > ${at} AND ${id}::uuid IS NOT NULL',
    test: {
      file: 'apps/api/test/export-account.test.ts',
      title: 'an export has everything of the account, its files byte by byte, and ends with its counts',
    },
  },
  {
    name: 'export goes on for a client that reads nothing',
    file: 'apps/api/src/export/export-stream.ts',
    text: '            stalled = setTimeout(breakOff, stallMs)\n',
    replacement: '',
    test: {
      file: 'apps/api/test/export-account.test.ts',
      title: 'a client that reads nothing loses its export',
    },
  },
  {
    name: 'refused export takes the place of the next',
    file: 'apps/api/src/export/export-stream.ts',
    text: '    end()\n    throw error\n',
    replacement: '    throw error\n',
    test: {
      file: 'apps/api/test/export-account.test.ts',
      title: 'an export of which nothing can be read is refused, and leaves room for the next',
    },
  },
  {
    name: 'change made after its timeout response',
    file: 'apps/api/src/changes/audit.ts',
    text: 'deadline.signal.throwIfAborted()',
    replacement: '',
    test: {
      file: 'apps/api/test/outages.test.ts',
      title: 'a change of an account that was refused with 503 is not made later',
    },
  },
  {
    name: 'own account deleted as that of a user',
    file: 'apps/api/src/operations/delete-user.ts',
    text: 'if (user_id === call.principal.accountId)',
    replacement: 'if (user_id === 0)',
    test: {
      file: 'apps/api/test/delete-account.test.ts',
      title: 'needs an ADMIN, another account, and one that exists',
    },
  },
]
