import type { Redis } from 'ioredis'
import { commandQueue } from './command-queue.ts'

/** The lists of BullMQ. */
export type ShardState = 'wait' | 'active'

/**
 * Those of the shards that have commands in this state. As long as none has, hundreds of shards cost Redis one command.
 * `shards` are numbers with a space between them, which costs a worker less than a thousand keys.
 */
export async function findShards(
  redis: Redis,
  shards: string,
  state: ShardState,
): Promise<ReadonlySet<number>> {
  if (shards === '') return new Set()
  const { name, prefix } = commandQueue('%d')
  const found = await redis.eval(findNonEmpty, 0, shards, `${prefix}:${name}:${state}`)
  return new Set(found as number[])
}

/** Its keys are not declared, which only a Redis Cluster would need. */
const findNonEmpty = `
local keysMax = 1000
local found, shards, keys = {}, {}, {}
local function search()
  if #keys > 0 and redis.call('EXISTS', unpack(keys)) > 0 then
    for index, key in ipairs(keys) do
      if redis.call('EXISTS', key) == 1 then found[#found + 1] = shards[index] end
    end
  end
  shards, keys = {}, {}
end
for shard in string.gmatch(ARGV[1], '%d+') do
  shards[#shards + 1] = tonumber(shard)
  keys[#keys + 1] = string.gsub(ARGV[2], '%%d', shard)
  if #keys == keysMax then search() end
end
search()
return found`
