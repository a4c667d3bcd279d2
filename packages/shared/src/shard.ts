/** The shard that a device belongs to for as long as the installation has this number of shards. */
export function shardOf(deviceId: number, shards: number): number {
  return deviceId % shards
}
