import type { Mutant } from './mutant.ts'

const following = 'apps/worker/src/session/network/client-version.ts'
const test = (title: string) => ({ file: 'apps/worker/test/client-version.test.ts', title })

export const clientVersionMutants: Mutant[] = [
  {
    name: 'version that ages while WhatsApp serves an earlier one',
    file: following,
    text: 'compareVersions(served, version.text) > 0 ? served : version.text',
    replacement: 'served',
    test: test('it is never lowered: neither by the page, nor by an older Baileys, nor by what is stored'),
  },
  {
    name: 'version lowered by what is stored',
    file: following,
    text: '    if (order < 0) return\n',
    replacement: '',
    test: test('it is never lowered: neither by the page, nor by an older Baileys, nor by what is stored'),
  },
  {
    name: 'version that cannot be used',
    file: following,
    text: '> revisionsAheadMax',
    replacement: '> 100 * revisionsAheadMax',
    test: test('a version that cannot be right is neither used nor stored'),
  },
  {
    name: 'refused version not read again',
    file: following,
    text: 'hastenVersionRead(db).then(poll, onError)',
    replacement: 'poll()',
    test: test('it is read again when WhatsApp refuses it'),
  },
  {
    name: 'version read by every worker',
    file: 'packages/db/src/queries/credentials/client-versions.ts',
    text: 'WHERE client_version_due_at <= now() RETURNING 1',
    replacement: 'RETURNING 1',
    test: {
      file: 'packages/db/test/client-versions.test.ts',
      title: 'is read by one of many workers, and by another one if that one records nothing',
    },
  },
  {
    name: 'pause of a refused version kept with the next one',
    file: 'apps/worker/src/device/connection-state.ts',
    text: '(version === null || version === moment.version)',
    replacement: 'version !== undefined',
    test: {
      file: 'apps/worker/test/logins-in-time.test.ts',
      title: 'after 405 there is a login every hour, and one for another version (new-version)',
      written: { title: 'after %s there is a login every hour, and one for another version (%s)' },
    },
  },
]
