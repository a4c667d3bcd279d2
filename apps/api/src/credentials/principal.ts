import type { KeyHolder } from '@wagate/db/queries/api-keys'

/** Who makes a request: an API key and its account. */
export type Principal = KeyHolder
