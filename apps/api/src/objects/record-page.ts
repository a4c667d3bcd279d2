import { z } from 'zod'
import { integer, recordId } from '../parameters/parameter-types.ts'

const recordsMax = 1000

type Page<Record> = { records: Record[]; has_more: boolean; next_after: number | null }

/** `list` is asked for one record more than the page has, which tells whether there are more. */
export async function readRecordPage<Record extends { id: number }>(
  limit: number | undefined,
  list: (limit: number) => Promise<Record[]>,
): Promise<Page<Record>> {
  const size = limit ?? recordsMax
  const found = await list(size + 1)
  const records = found.slice(0, size)
  const hasMore = found.length > size
  return { records, has_more: hasMore, next_after: hasMore ? (records.at(-1)?.id ?? null) : null }
}

/** Of an operation that lists records by their ids. */
export const pageParameters = (id: string) => ({
  limit: integer(1, recordsMax)
    .optional()
    .describe(`Page size, ${recordsMax.toLocaleString('en')} by default`),
  after: recordId.optional().describe(`Only records with a higher \`${id}\``),
})

export const pageFields = {
  has_more: z.boolean().describe('There are more; request them with `next_after`'),
  next_after: z.int().nullable().describe('Value of `after` for the next page; null on the last page'),
}
