import type { Mutant } from './mutant.ts'

const connection = 'packages/db/src/queries/devices/device-connection.ts'
const rows = 'packages/db/src/queries/devices/device-event-rows.ts'
const ofDevices = 'packages/db/test/device-events.test.ts'

/** Events of devices: one for each change, and only from the owner. */
export const deviceEventMutants: Mutant[] = [
  {
    name: 'a device event without a change',
    file: rows,
    text: ' AND changed.announced IS DISTINCT FROM (before.was).announced',
    replacement: '',
    test: {
      file: ofDevices,
      title: 'has an event when its login is complete, and none for what stays within the grace',
    },
  },
  {
    name: 'a former owner announces a disconnection',
    file: connection,
    text: 'devices AS device JOIN valid USING (shard)',
    replacement: 'devices AS device',
    test: { file: ofDevices, title: 'of a lost connection', written: { title: "])('of %s'" } },
  },
  {
    name: 'a disconnection is announced within the grace',
    file: connection,
    text: 'device.offline_since <= now() - ${statusGraceMs}',
    replacement: 'device.offline_since <= now() - ${0}',
    test: {
      file: ofDevices,
      title: 'has an event when its login is complete, and none for what stays within the grace',
    },
  },
  {
    name: 'the end of a link is told again when it is wiped',
    file: rows,
    text: "\n    WHERE ${isLinkedIn(sql, '(before.was)')}",
    replacement: '',
    test: {
      file: ofDevices,
      title: 'has one event: logout_requested',
      written: { title: "])('has one event: %s'" },
    },
  },
  {
    name: 'an event of a device wakes no reader',
    file: rows,
    text: '$onEvents?.(accountId)',
    replacement: 'void $onEvents',
    test: {
      file: 'system-tests/event-hints.test.ts',
      title: 'the API and the worker publish a hint for each event of a device',
    },
  },
]
