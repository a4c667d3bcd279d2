import { fetchRedisFromDebian, findVendoredRedis } from './redis-from-debian.ts'
import { findRedisInDocker } from './redis-in-docker.ts'
import { findRedisInJs } from './redis-in-js.ts'
import { findRedisOnPath } from './redis-on-path.ts'
import type { RedisProgram, RedisSearch } from './redis-program.ts'

/** The first way to run Redis that works here, the cheapest first. */
export async function findRedis(search: RedisSearch): Promise<RedisProgram> {
  const program =
    findRedisOnPath() ??
    findVendoredRedis(search.vendorFolder) ??
    (await fetchRedisFromDebian(search)) ??
    findRedisInDocker(search) ??
    findRedisInJs(search)
  if (program) return program
  throw new Error(
    'No Redis could be found or fetched. Install redis-server or valkey-server 6.2 or later, ' +
      'or set REDIS_URL to a server of yours.',
  )
}
