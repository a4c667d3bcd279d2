import type { KeyHolder } from '@wagate/db/queries/api-keys'

/** The API key of a request and its account. */
export type Principal = KeyHolder
