import { isRefusedContent } from '@wagate/db/failures'
import { makeNaturalBatch, type NaturalBatch, type NaturalBatchOptions } from '@wagate/runtime/natural-batch'

/**
 * One statement for the items of many devices. If Postgres refuses it because of what is in it, they are tried one by one: a
 * contact of one device can choose what is stored for it, and must not stop the others.
 */
export function makeStatementBatch<Item, Result>(
  flush: (items: Item[]) => Promise<Result[]>,
  options: Omit<NaturalBatchOptions, 'isOfOneItem'>,
): NaturalBatch<Item, Result> {
  return makeNaturalBatch(flush, { ...options, isOfOneItem: isRefusedContent })
}
