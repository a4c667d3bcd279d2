/** Where the commands of a shard lie. The braces keep all keys of a shard in one slot of a Redis Cluster. */
export function commandQueue(shard: number): { name: string; prefix: string } {
  return { name: `commands-${shard}`, prefix: `{wa:${shard}}` }
}
