import type { Mutant } from './mutant.ts'

const epochs = 'packages/db/migrations/0033_event_epochs.sql'
const ofClock = 'packages/db/test/event-clock.test.ts'

/** Epochs of events, which keep cursors valid when Postgres takes back what it has not stored. */
export const epochMutants: Mutant[] = [
  {
    name: 'an epoch that ends while nothing is recorded',
    file: 'packages/db/src/queries/events/event-epoch.ts',
    text: 'await client`SELECT event_epoch()`',
    replacement: '',
    test: {
      file: 'packages/db/test/event-clock.test.ts',
      title: 'a reader that has waited for weeks for the first event since keeps its place',
    },
  },
  {
    name: 'the default of an earlier version stays',
    file: 'packages/db/src/migrate.ts',
    text: 'await restoreEventEpochs(client)',
    replacement: '',
    test: {
      file: 'packages/db/test/event-clock.test.ts',
      title: 'a version from before epochs that was started meanwhile is undone by the next migration',
    },
  },
  {
    name: 'the epoch of a restored dump',
    file: epochs,
    text: 'greatest(event_epoch + 1, extract(epoch FROM clock_timestamp())::int)',
    replacement: 'event_epoch + 1',
    test: {
      file: 'packages/db/test/installation.test.ts',
      title: 'events of a restored database are in a new epoch, whatever epoch its dump had',
    },
  },
  {
    name: 'an epoch that outlives a crash',
    file: epochs,
    text: 'CREATE UNLOGGED TABLE "event_clock"',
    replacement: 'CREATE TABLE "event_clock"',
    test: {
      file: 'packages/db/test/event-losses.test.ts',
      title: 'no reader skips an event after a kill of one of its processes',
      written: { title: 'no reader skips an event after %s' },
    },
  },
  {
    name: 'a copy of the files with the epoch of its original',
    file: epochs,
    text: 'WHERE started_at = pg_postmaster_start_time() AND least(',
    replacement: 'WHERE least(',
    test: {
      file: 'packages/db/test/installation.test.ts',
      title: 'events of a restored database are in a new epoch, whatever epoch its dump had',
    },
  },
  {
    name: 'an epoch that a crash takes back',
    file: epochs,
    text: "PERFORM set_config('synchronous_commit', 'on', true)",
    replacement: 'NULL',
    test: {
      file: ofClock,
      title: 'a claim whose commit is lazy begins no epoch that a crash takes back',
    },
  },
]
