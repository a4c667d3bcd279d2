import { AppError } from '../errors/app-error.ts'
import type { ApiKeyCache } from './api-key-cache.ts'

/** Of a key that was valid. Still true while Postgres does not answer. */
export async function isStillValid(
  keys: Pick<ApiKeyCache, 'findCached' | 'find'>,
  key: string,
): Promise<boolean> {
  try {
    return (keys.findCached(key) ?? (await keys.find(key))) !== undefined
  } catch (error) {
    return !(error instanceof AppError)
  }
}
