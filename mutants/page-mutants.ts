import type { Mutant } from './mutant.ts'

const ofSignUp = 'system-tests/sign-up-page.test.ts'
const ofAccount = 'system-tests/account-page.test.ts'
const ofKeys = {
  file: ofAccount,
  title: 'shows a new key once, and revokes the key that the question names',
}

/** What the pages for people owe them. */
export const pageMutants: Mutant[] = [
  {
    name: 'a return URL over plain http',
    file: 'apps/api/src/pairing/return-url.ts',
    text: "(protocol === 'http:' && loopback.has(hostname))",
    replacement: "protocol === 'http:'",
    test: {
      file: 'apps/api/test/link-page-details.test.ts',
      title: 'may not go on at "http://shop.example.com"',
      written: { title: 'may not go on at %j' },
    },
  },
  {
    name: 'the words of programmers on the link page',
    file: 'apps/api/page/link/sentences.js',
    text: 'const key = ofTyped ?? errors[code]',
    replacement: 'const key = errors[code]',
    test: {
      file: 'system-tests/link-page-people.test.ts',
      title: 'says in the words of people what they have mistyped',
    },
  },
  {
    name: 'a mailed link used up by loading its page',
    file: 'apps/api/page/accounts/sign-up.js',
    text: "\n  element('continue').focus()",
    replacement: '\n  void confirm()',
    test: { file: ofSignUp, title: 'do not use up a link that a program only loads' },
  },
  {
    name: 'a mailed secret that stays in the address bar',
    file: 'apps/api/page/accounts/mailed-link.js',
    text: "\n  if (location.hash) history.replaceState(null, '', location.pathname)",
    replacement: '',
    test: {
      file: ofSignUp,
      title: 'make an account by keyboard, show its key once, and name commands that send a message',
    },
  },
  {
    name: 'the Enter key revokes without a question',
    file: 'apps/api/page/shared/ask.js',
    text: "element('question-no').focus()",
    replacement: "element('question-yes').focus()",
    test: ofKeys,
  },
  {
    name: 'a revoked key stays in the page',
    file: 'apps/api/page/accounts/keys.js',
    text: "\n      element('new-key').textContent = ''",
    replacement: '',
    test: ofKeys,
  },
  {
    name: 'a page stays open whose session has ended',
    file: 'apps/api/page/accounts/session.js',
    text: "\n    if (error.status === 401) await leaveFor('/sign-in')",
    replacement: '',
    test: { file: ofAccount, title: 'signs another browser out, and says so there' },
  },
  {
    name: 'a page where programs expect JSON',
    file: 'apps/api/src/app.ts',
    text: "prefersType(htmlType, c.req.header('accept') ?? null)",
    replacement: "prefersType(htmlType, 'text/html')",
    test: {
      file: 'apps/api/test/pages.test.ts',
      title: 'a program that gets /sign-up with Accept: */* is answered in JSON',
      written: { title: 'a program that gets /sign-up with Accept: %s is answered in JSON' },
    },
  },
  {
    name: 'a session that may not read a stream to its end',
    file: 'apps/api/src/credentials/authenticate.ts',
    text: 'key: outside ?? key',
    replacement: 'key',
    test: { file: 'apps/api/test/sessions.test.ts', title: 'a session exports the account to the end' },
  },
  {
    name: 'a file that has broken off is called complete',
    file: 'apps/api/page/accounts/account.js',
    text: '!(await file.slice(-endCharsMax).text()).includes(\'{"type":"end"\')',
    replacement: 'false',
    test: {
      file: 'system-tests/account-data-page.test.ts',
      title: 'gives no file of the data if its end is missing',
    },
  },
  {
    name: 'keys that end with the session in which they were created',
    file: 'apps/api/src/operations/create-key.ts',
    text: ' || isSession',
    replacement: '',
    test: {
      file: 'apps/api/test/sessions.test.ts',
      title: 'a key that a person creates outlives the session',
    },
  },
]
