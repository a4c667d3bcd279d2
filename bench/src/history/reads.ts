import { closeDatabase, type Database, openDatabase } from '@wagate/db/client'
import { findPositionAt } from '@wagate/db/queries/events/event-time'
import { listUpdatedMessages } from '@wagate/db/queries/events/updated-messages'
import type { HistoryFilter } from '@wagate/db/queries/messages/history-filter'
import { listMessages } from '@wagate/db/queries/messages/history-pages'
import { findHistoryPosition, findMessage } from '@wagate/db/queries/messages/message-history'
import { accountId, lidOf } from './fill.ts'
import type { PagePosition } from './positions.ts'

/** The maximum and the default of the API. */
export const limit = 200

/** Reads a page at that position. Resolves to the number of messages on it. */
export type Read = (position: PagePosition) => Promise<number>

type FilterAt = (position: PagePosition) => HistoryFilter

const dayMs = 86_400_000
const dayOf = ({ at }: PagePosition) => ({ from: at, to: new Date(at.getTime() + dayMs) })

const filters: Record<string, FilterAt> = {
  none: () => ({}),
  sender: ({ sender }) => ({ sender }),
  number: ({ number }) => ({ number }),
  lid: ({ number }) => ({ lid: lidOf(number) }),
  'direction=in': () => ({ direction: 'in' }),
  'direction=out': () => ({ direction: 'out' }),
  'type=text': () => ({ type: 'text' }),
  'type=audio': () => ({ type: 'audio' }),
  'status=read': () => ({ status: 'read' }),
  'status=queued': () => ({ status: 'queued' }),
  'status=canceled': () => ({ status: 'canceled' }),
  'status=failed': () => ({ status: 'failed' }),
  'sender, number': ({ sender, number }) => ({ sender, number }),
  'sender, direction=in': ({ sender }) => ({ sender, direction: 'in' }),
  'sender, type=audio': ({ sender }) => ({ sender, type: 'audio' }),
  'sender, status=queued': ({ sender }) => ({ sender, status: 'queued' }),
  'sender, status=failed': ({ sender }) => ({ sender, status: 'failed' }),
  'number, direction=in': ({ number }) => ({ number, direction: 'in' }),
  'number, status=failed': ({ number }) => ({ number, status: 'failed' }),
  'lid, direction=in': ({ number }) => ({ lid: lidOf(number), direction: 'in' }),
  'direction=in, type=image': () => ({ direction: 'in', type: 'image' }),
  'sender, number, status=read': ({ sender, number }) => ({ sender, number, status: 'read' }),
}

const filtersOfDay: Record<string, FilterAt> = {
  none: () => ({}),
  sender: ({ sender }) => ({ sender }),
  number: ({ number }) => ({ number }),
  'direction=in': () => ({ direction: 'in' }),
  'type=audio': () => ({ type: 'audio' }),
  'status=canceled': () => ({ status: 'canceled' }),
}

const filtersOfChanges: Record<string, FilterAt> = {
  none: () => ({}),
  'direction=in': () => ({ direction: 'in' }),
  'status=failed': () => ({ status: 'failed' }),
}

export function readsOf(db: Database, url: string): Record<string, Read> {
  const readsWith = (
    suffix: string,
    given: Record<string, FilterAt>,
    read: (filter: HistoryFilter, position: PagePosition) => Promise<number>,
  ) =>
    Object.fromEntries(
      Object.entries(given).map(([name, filterAt]): [string, Read] => [
        `${name}${suffix}`,
        (position) => read(filterAt(position), position),
      ]),
    )
  return {
    ...readsWith('', filters, (filter, position) => readPage(db, filter, position)),
    ...readsWith(', of a day', filtersOfDay, (filter, position) =>
      readPage(db, { ...filter, ...dayOf(position) }, { ...position, isNewest: true }),
    ),
    ...readsWith(', after', filters, (filter, position) => readNewer(db, filter, position)),
    ...readsWith(', updated after a time', filtersOfChanges, (filter, position) =>
      readUpdated(db, filter, position),
    ),
    'none, on a new connection': async (position) => {
      const fresh = openForReading(url)
      try {
        return await readPage(fresh, {}, position)
      } finally {
        await closeDatabase(fresh)
      }
    },
    message_id: async ({ id }) => ((await findMessage(db, accountId, id)) ? 1 : 0),
  }
}

/** Like that of the API, but with one connection: an account reads one page at a time. */
export function openForReading(url: string): Database {
  return openDatabase(url, { poolSize: 1, applicationName: 'bench reads', statementTimeoutMs: 2000 })
}

/** As the API does it. */
async function readPage(
  db: Database,
  filter: HistoryFilter,
  { id, isNewest }: PagePosition,
): Promise<number> {
  const before = isNewest ? undefined : await findHistoryPosition(db, accountId, id)
  return (await listMessages(db, accountId, { ...filter, before, limit })).messages.length
}

async function readNewer(db: Database, filter: HistoryFilter, { id }: PagePosition): Promise<number> {
  const after = await findHistoryPosition(db, accountId, id)
  return (await listMessages(db, accountId, { ...filter, after, limit })).messages.length
}

async function readUpdated(
  db: Database,
  filter: HistoryFilter,
  { changedSince }: PagePosition,
): Promise<number> {
  const after = await findPositionAt(db, accountId, changedSince)
  return (await listUpdatedMessages(db, accountId, { ...filter, after, limit })).messages.length
}
