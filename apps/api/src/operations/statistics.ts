import {
  findStatistics,
  type StatisticsGroup,
  type StatisticsKey,
  type StatisticsRow,
  statisticsGroups,
} from '@wagate/db/queries/messages/statistics'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'
import { invalidParameter } from '../errors/invalid-parameter.ts'
import { day, integer, namesOf, phone, text } from '../parameters/parameter-types.ts'

const rowsMax = 1000
const daysMax = 92
const daysDefault = 7
const dayMs = 86_400_000
const byDefault: StatisticsGroup[] = ['day']
const cursorCharsMax = 100

const counts = {
  sent: z.int().describe('Messages that WhatsApp took from the gateway'),
  delivered: z.int().describe('Messages that reached the phone of the recipient'),
  read: z.int().describe('Messages that the recipient has read'),
  failed: z.int().describe('Messages that failed. One that arrives after all counts as sent as well'),
  received: z.int().describe('Messages that contacts wrote'),
}

const row = z.object({
  day: z.iso.date().optional().describe('UTC day, with `by=day`'),
  sender: z.string().optional().describe('Phone number of the sender, with `by=sender`'),
  code: z
    .string()
    .nullable()
    .optional()
    .describe('`error_code` of the messages that failed, with `by=code`; null for all other messages'),
  ...counts,
})

export const statistics = defineOperation({
  name: 'statistics',
  summary:
    'Count the messages that were sent, delivered, read, failed and received, by UTC day, sender and error code',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object({
    sender: phone.optional().describe('Only messages of this sender'),
    from: day
      .optional()
      .describe(`The first UTC day, six days before \`to\` by default, at most ${daysMax - 1}`),
    to: day.optional().describe('The last UTC day, today by default'),
    by: namesOf(statisticsGroups)
      .optional()
      .describe(
        'A row for each `day`, `sender` or `code`, or for each combination of several; `day` by default',
      ),
    limit: integer(1, rowsMax)
      .optional()
      .describe(`Page size, ${rowsMax.toLocaleString('en')} by default`),
    after: text(cursorCharsMax).optional().describe('`next_after` of the previous page'),
  }),
  fields: z.object({
    from: z.iso.date().describe('The first day'),
    to: z.iso.date().describe('The last day'),
    totals: z.object(counts).describe('Of all rows, not only of this page'),
    rows: z
      .array(row)
      .describe('In the order of day, sender and code. Rows without any message are left out'),
    next_after: z.string().nullable().describe('Value of `after` for the next page; null on the last page'),
  }),
  example: {
    given: { from: '2026-11-01', to: '2026-11-30', by: ['day', 'code'] },
    answer: {
      from: '2026-11-01',
      to: '2026-11-30',
      totals: { sent: 40, delivered: 38, read: 21, failed: 1, received: 12 },
      rows: [
        { day: '2026-11-29', code: null, sent: 40, delivered: 38, read: 21, failed: 0, received: 12 },
        {
          day: '2026-11-29',
          code: 'recipient_not_on_whatsapp',
          sent: 0,
          delivered: 0,
          read: 0,
          failed: 1,
          received: 0,
        },
      ],
      next_after: null,
    },
  },
  async handle({ sender, by = byDefault, limit = rowsMax, after, ...given }, { context: { db }, principal }) {
    const { from, to } = daysOf(given)
    const query = {
      sender,
      from,
      to,
      by,
      after: after === undefined ? undefined : keyIn(after, by),
      limit: limit + 1,
    }
    const { totals, rows } = await findStatistics(db, principal.accountId, query)
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    return {
      from,
      to,
      totals,
      rows: shown.map((found) => toRow(found, by)),
      next_after: rows.length > limit && last ? cursorOf(last) : null,
    }
  },
})

/** Throws `invalid_parameter`. */
function daysOf(given: { from?: string | undefined; to?: string | undefined }): { from: string; to: string } {
  const to = given.to ?? dayAt(Date.now())
  const from = given.from ?? dayAt(Date.parse(to) - (daysDefault - 1) * dayMs)
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  const named = given.to === undefined ? 'to, which is today by default' : 'to'
  if (days < 1) throw invalidParameter('from', `must not be later than ${named}`)
  if (days > daysMax) throw invalidParameter('from', `must be at most ${daysMax - 1} days before ${named}`)
  return { from, to }
}

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10)

const cursorOf = ({ day, sender, code }: StatisticsKey) => [day, sender, code].join('/')

/** Throws `invalid_parameter` for what is no cursor, or that of another `by`. */
function keyIn(cursor: string, by: StatisticsGroup[]): StatisticsKey {
  const [day = '', sender = '', code = '', ...others] = cursor.split('/')
  const key = { day, sender, code }
  const fits = (group: StatisticsGroup) =>
    by.includes(group) ? forms[group].test(key[group]) : key[group] === ''
  if (cursorOf(key) === cursor && others.length === 0 && statisticsGroups.every(fits)) return key
  throw invalidParameter('after', 'must be `next_after` of a page with the same `by`')
}

/** Of the parts of a cursor. */
const forms = { day: /^\d{4}-\d\d-\d\d$/, sender: /^\d+$/, code: /^[a-z_]*$/ }

function toRow({ day, sender, code, ...counted }: StatisticsRow, by: StatisticsGroup[]): z.input<typeof row> {
  return {
    ...(by.includes('day') && { day }),
    ...(by.includes('sender') && { sender }),
    ...(by.includes('code') && { code: code === '' ? null : code }),
    ...counted,
  }
}
