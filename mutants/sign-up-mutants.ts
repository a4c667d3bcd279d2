import type { Mutant } from './mutant.ts'

const ofSessions = 'apps/api/test/sessions.test.ts'
const ofSignUp = 'apps/api/test/sign-up.test.ts'
const ofHostile = 'apps/api/test/hostile-sign-up.test.ts'
const ofLockOut = 'apps/api/test/lock-out.test.ts'
const ofRaces = 'apps/api/test/account-races.test.ts'
const cookie = 'apps/api/src/credentials/session-cookie.ts'

/** Accounts with a password, their sessions and mails. */
export const signUpMutants: Mutant[] = [
  {
    name: 'session used without the header of a page',
    file: cookie,
    text: 'if (!isOfPage()) return undefined',
    replacement: '',
    test: { file: ofSessions, title: 'cannot use it with a form or a link, which have no header of ours' },
  },
  {
    name: 'origin of a request not compared',
    file: cookie,
    text: '(origin !== null && origin !== own) ||',
    replacement: '',
    test: { file: ofSessions, title: 'cannot sign its visitor in' },
  },
  {
    name: 'other sites of the domain admitted',
    file: cookie,
    text: '/^(same-origin|none)$/',
    replacement: '/^(same-origin|same-site|none)$/',
    test: {
      file: ofSessions,
      title: 'cannot use the session of a browser: a subdomain',
      written: { title: 'cannot use the session of a browser: %s' },
    },
  },
  {
    name: 'secret of a session taken as an API key',
    file: 'apps/api/src/credentials/find-key.ts',
    text: "typeof key === 'string' && !isOfSession(key)",
    replacement: "typeof key === 'string'",
    test: {
      file: ofSessions,
      title: 'the secret of a session is no API key (header)',
      written: { title: 'the secret of a session is no API key (%s)' },
    },
  },
  {
    name: 'former session of the browser kept',
    file: 'apps/api/src/operations/sign-in.ts',
    text: 'if (former) await endSessions(tx, former.accountId, { id: former.keyId })',
    replacement: '',
    test: {
      file: ofSessions,
      title: 'when the browser signs in again, so that nobody can prepare one for it',
    },
  },
  {
    name: 'sessions of any account ended',
    file: 'packages/db/src/queries/accounts/sessions.ts',
    text: 'eq(apiKeys.accountId, accountId),\n        isSession,',
    replacement: 'isSession,',
    test: { file: ofSessions, title: 'a session of another account looks like one that does not exist' },
  },
  {
    name: 'sessions kept with a new password',
    file: 'apps/api/src/operations/change-password.ts',
    text: 'const ended = await endSessions(tx, accountId)',
    replacement: 'const ended = 2',
    test: {
      file: ofSessions,
      title: 'when the password changes, except for a new one of the browser that changes it',
    },
  },
  {
    name: 'unused session kept open',
    file: 'packages/db/src/queries/accounts/api-keys.ts',
    text: 'or(isNull(sessions.keyId), isAwake)',
    replacement: 'or(isNull(sessions.keyId), isNull(apiKeys.revokedAt))',
    test: {
      file: ofSessions,
      title: 'after a day without a request',
      written: { title: '%s' },
    },
  },
  {
    name: 'link of a mail used twice',
    file: 'packages/db/src/queries/accounts/mailed-links.ts',
    text: 'if (link) await tx.delete(mailedLinks).where(same)',
    replacement: '',
    test: { file: ofSignUp, title: 'works once, and with it all other links of the address' },
  },
  {
    name: 'link of a mail for any purpose',
    file: 'packages/db/src/queries/accounts/mailed-links.ts',
    text: 'inArray(mailedLinks.purpose, purposes),\n    gt(',
    replacement: 'gt(',
    test: { file: ofSignUp, title: 'does only what its mail was for' },
  },
  {
    name: 'expired link of a mail used',
    file: 'packages/db/src/queries/accounts/mailed-links.ts',
    text: 'gt(mailedLinks.expiresAt, sql`now()`)',
    replacement: "gt(mailedLinks.expiresAt, sql`now() - interval '1 day'`)",
    test: { file: ofSignUp, title: 'is refused after it has expired' },
  },
  {
    name: 'older links kept with a new password',
    file: 'apps/api/src/operations/change-password.ts',
    text: 'await deleteMailedLinks(tx, accountId)',
    replacement: '',
    test: { file: ofSignUp, title: 'has no more links after the password was changed another way' },
  },
  {
    name: 'common passwords admitted',
    file: 'apps/api/src/credentials/new-password.ts',
    text: '(await loadCommonPasswords()).has(typed)',
    replacement: '(await loadCommonPasswords()).has(`${typed} `)',
    test: { file: ofSignUp, title: 'is not used up by a refused password' },
  },
  {
    name: 'mail made before the answer',
    file: 'apps/api/src/accounts/mail-link.ts',
    text: 'mailer.send(() => prepare(toolsOf(call.context)))',
    replacement: 'const mail = await prepare(toolsOf(call.context))\n  mailer.send(async () => mail)',
    test: {
      file: ofHostile,
      title: 'does not show in the time of an answer, which waits for no look-up',
    },
  },
  {
    name: 'mails to one address not counted',
    file: 'apps/api/src/accounts/mail-link.ts',
    text: "await call.charge({ limit: 'addressMails', key: `${purpose} ${emailKey(to)}` })",
    replacement: '',
    test: { file: ofHostile, title: 'by the address, whatever the networks and whether it has an account' },
  },
  {
    name: 'passwords of an account not counted',
    file: 'apps/api/src/accounts/check-password.ts',
    text: "await call.charge({ limit: 'passwords', key: whose })",
    replacement: '',
    test: { file: ofHostile, title: 'by address, from any networks' },
  },
  {
    name: 'password sent without TLS',
    file: 'apps/api/src/mail/mailer.ts',
    text: "requireTLS: !secure && !isLocal && user !== '',",
    replacement: 'requireTLS: false,',
    test: {
      file: 'apps/api/test/mailer.test.ts',
      title: 'a password is not sent to another machine without TLS',
    },
  },
  {
    name: 'address that another account takes meanwhile is a failure',
    file: 'packages/db/src/queries/accounts/accounts.ts',
    text: "if (isTaken(error, 'accounts_email')) return false",
    replacement: '',
    test: { file: ofRaces, title: 'by two accounts that have asked for it' },
  },
  {
    name: 'links to one address wait for each other',
    file: 'packages/db/src/queries/accounts/mailed-links.ts',
    text: 'if (found.accountId === null) {',
    replacement: 'if (false) {',
    test: { file: ofRaces, title: 'by two links for it' },
  },
  {
    name: 'session opened with a password that has been changed',
    file: 'apps/api/src/accounts/check-password.ts',
    text: 'if (account?.passwordHash === passwordHash) return account',
    replacement: 'if (account) return account',
    test: { file: ofRaces, title: 'gets no session' },
  },
  {
    name: 'link to a former address changes the password',
    file: 'apps/api/src/operations/reset-password.ts',
    text: 'if (account?.email !== email) throw mailLinkInvalid()',
    replacement: '',
    test: { file: ofRaces, title: 'also one that is stored only afterwards' },
  },
  {
    name: 'owner of an account locked out by many networks',
    file: 'apps/api/src/accounts/check-password.ts',
    text: 'if (isRight && account?.isKnownNetwork) return account',
    replacement: '',
    test: {
      file: ofLockOut,
      title: 'keeps nobody out of it who has signed in from the same network before',
    },
  },
  {
    name: 'right guess accepted from any network',
    file: 'apps/api/src/accounts/check-password.ts',
    text: 'if (isRight && account?.isKnownNetwork) return account',
    replacement: 'if (isRight) return account',
    test: { file: ofLockOut, title: 'does not have a right guess accepted after too many wrong ones' },
  },
  {
    name: 'any password of a known network compared without a limit',
    file: 'apps/api/src/accounts/check-password.ts',
    text: 'if (isRight && account?.isKnownNetwork) return account',
    replacement: 'if (account?.isKnownNetwork) return isRight ? account : undefined',
    test: { file: ofLockOut, title: 'does not learn from the network of its owner that there is one' },
  },
  {
    name: 'mails for a new password kept back by others',
    file: 'apps/api/src/accounts/mail-link.ts',
    text: "await call.charge({ limit: 'addressMails', key: `${purpose} ${emailKey(to)}` })",
    replacement: "await call.charge({ limit: 'addressMails', key: emailKey(to) })",
    test: { file: ofLockOut, title: 'keeps no mail for a new password back with mails of other kinds' },
  },
  {
    name: 'addresses of one mailbox counted apart',
    file: 'apps/api/src/accounts/email.ts',
    text: ".replace(/\\+.*/, '')",
    replacement: '',
    test: { file: ofLockOut, title: 'the other addresses of one mailbox share its mails' },
  },
  {
    name: 'reason of a mail failure not logged',
    file: 'apps/api/src/mail/mailer.ts',
    text: 'return [code, originalCode, responseCode].filter',
    replacement: 'return [code, responseCode].filter',
    test: {
      file: 'apps/api/test/mailer.test.ts',
      title: 'an operator reads in the log why the server cannot be reached',
    },
  },
  {
    name: 'sign-up offered to people who need an invitation',
    file: 'apps/api/page/accounts/sign-up.js',
    text: "if (mode !== 'invite') return showMailForm(sentence)",
    replacement: 'return showMailForm(sentence)',
    test: {
      file: 'apps/api/test/pages.test.ts',
      title: 'the pages offer no sign-up to people who need an invitation',
    },
  },
]
