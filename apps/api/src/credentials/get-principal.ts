import type { KeyHolder } from '@wagate/db/queries/api-keys'
import type { ApiContext } from '../context.ts'
import { AppError } from '../errors/app-error.ts'
import { clientNetwork } from '../http/client-address.ts'
import type { Exchange } from '../http/request-context.ts'
import { charge } from '../limits/charge.ts'

/**
 * Throws `invalid_api_key` or `expired_api_key`, or `rate_limited` after too many invalid keys from one address.
 * A valid key is always answered: keys have 256 random bits, so there is nothing to learn from it, and refusing it
 * would let one client shut out all others behind the same address.
 */
export async function getHolder(
  { keys, limits }: Pick<ApiContext, 'keys' | 'limits'>,
  { deadline, headers, findClientAddress }: Exchange,
  key: string,
): Promise<KeyHolder> {
  const recalled = keys.recall(key)
  if (recalled) return recalled
  return deadline.run(async () => {
    const holder = await keys.findHolder(key)
    if (holder) return holder
    const network = clientNetwork(findClientAddress())
    await charge([{ limiter: limits.failedKeys, key: network }], headers, tooManyInvalid)
    throw new AppError('invalid_api_key', 'The API key is not valid.')
  })
}

const tooManyInvalid = 'There were too many requests with keys that are not valid. Try again later.'
