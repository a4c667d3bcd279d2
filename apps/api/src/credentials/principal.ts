import type { KeyHolder } from '@wagate/db/queries/api-keys'
import type { LinkHolder } from '@wagate/db/queries/pairing-links'

/** The API key of a request and its account. With `link`, a person acts through a one-time link that the key created. */
export type Principal = KeyHolder & { link?: LinkHolder }

export type Credential = 'key' | LinkHolder['credential']
