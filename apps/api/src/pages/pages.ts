import type { Config } from '../config.ts'
import { type PageFile, pageFile, pageTypes } from './page-file.ts'

const namesOfFiles = {
  shared: [
    ...[
      'ask.js',
      'copy.js',
      'form.js',
      'gateway.js',
      'installation.js',
      'link-session.js',
      'make-element.js',
    ],
    ...['view.js', 'page.css'],
  ],
  home: ['home.js', 'home.css'],
  link: [
    ...['countdown.js', 'follow-pairing.js', 'link.js', 'passkey.js', 'sentences.js', 'texts.js', 'view.js'],
    'link.css',
  ],
  'link/languages': ['ar', 'de', 'en', 'es', 'fr', 'hi', 'id', 'it', 'pt', 'tr'].map((name) => `${name}.js`),
  accounts: [
    ...['account.js', 'credentials.js', 'first-commands.js', 'installation.js', 'keys.js', 'mailed-link.js'],
    ...['records.js', 'reset-password.js', 'senders.js', 'sentences.js', 'session.js', 'sessions.js'],
    ...['sign-in.js', 'sign-up.js', 'accounts.css'],
  ],
}

/** Both spellings of a path. */
const served = (path: string, file: PageFile) => ({ [path]: file, [`${path}/`]: file })

/** What the pages consist of, by path. */
export const pageFiles: Record<string, PageFile> = {
  ...served('/link', pageFile('link/index.html')),
  ...served('/account', pageFile('accounts/account.html')),
  ...Object.fromEntries(
    Object.entries(namesOfFiles).flatMap(([part, names]) =>
      names.map((name) => [`/${part}/${name}`, pageFile(`${part}/${name}`)] as const),
    ),
  ),
}

/** Pages on paths that answer programs in JSON. They are for clients that prefer HTML. */
export const operationPages: Record<string, PageFile> = Object.assign(
  { '/': pageFile('home/index.html') },
  ...['sign-up', 'sign-in', 'reset-password'].map((name) =>
    served(`/${name}`, pageFile(`accounts/${name}.html`)),
  ),
)

/** What the pages say about this gateway before a person has signed in. */
export function installationFile({
  installation: { network },
  signUp: { mode },
  accounts: { deletionDays },
  simulatorUrl,
}: Pick<Config, 'accounts' | 'installation' | 'signUp' | 'simulatorUrl'>): PageFile {
  const facts = {
    network,
    sign_up: mode,
    account_deletion_days: deletionDays,
    ...(simulatorUrl && { simulator_url: simulatorUrl }),
  }
  return { type: pageTypes.json, read: () => JSON.stringify(facts) }
}
