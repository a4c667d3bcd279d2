import { settings } from '@wagate/shared/settings'
import { describe, expect, it } from 'vitest'
import { readEnv } from '../src/env.ts'

const { DATABASE_URL, MASTER_KEY, SHARDS, TRUST_PROXY, ALLOW_QUERY_API_KEY } = settings

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
    expect(readEnv({ SHARDS, ALLOW_QUERY_API_KEY }, { SHARDS: '', ALLOW_QUERY_API_KEY: 'false' })).toEqual({
      SHARDS: 256,
      ALLOW_QUERY_API_KEY: false,
    })
  })

  it.each([
    ['true', 1],
    ['false', 0],
    ['2', 2],
  ])('reads TRUST_PROXY=%s as %i proxies', (value, proxies) => {
    expect(readEnv({ TRUST_PROXY }, { TRUST_PROXY: value })).toEqual({ TRUST_PROXY: proxies })
  })

  it.each(['yes', '-1', '10', '1.5'])('refuses TRUST_PROXY=%s', (value) => {
    expect(() => readEnv({ TRUST_PROXY }, { TRUST_PROXY: value })).toThrow('TRUST_PROXY: must be')
  })
})
