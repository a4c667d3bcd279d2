import { describe, expect, it } from 'vitest'
import { readEnv } from '../src/env.ts'
import { settings } from '../src/settings.ts'

const { DATABASE_URL, MASTER_KEY, SHARDS, TRUST_PROXY } = settings

describe('readEnv', () => {
  it('names every bad variable in one message, and no value', () => {
    const read = () =>
      readEnv(
        { DATABASE_URL, MASTER_KEY, SHARDS },
        { DATABASE_URL: 'mysql://secret', MASTER_KEY: 'c2VjcmV0', SHARDS: 'x' },
      )
    expect(read).toThrow(/DATABASE_URL: .*\n.*MASTER_KEY: .*\n.*SHARDS: /)
    expect(read).not.toThrow(/secret|c2VjcmV0/)
  })

  it('takes an empty variable for an absent one', () => {
    expect(readEnv({ SHARDS, TRUST_PROXY }, { SHARDS: '', TRUST_PROXY: 'true' })).toEqual({
      SHARDS: 256,
      TRUST_PROXY: true,
    })
  })
})
