import { firstWithin } from './move-order.ts'
import { openingMax } from './releases.ts'

/** Bounds how long a worker takes to stop, however many devices it has. */
const wavesMax = 12

/** Linked devices per wave when a stopping worker hands over. */
export function waveSize(devices: number, receivers: number): number {
  return Math.max(openingMax * receivers, Math.ceil(devices / wavesMax))
}

/** What a stopping worker hands over next. Shards without linked devices go with the last wave. */
export function chooseWave<Shard extends { linked: number }>(left: Shard[], devicesMax: number): Shard[] {
  const linked = left.filter((shard) => shard.linked > 0)
  const wave = firstWithin(linked, devicesMax)
  return wave.length === linked.length ? left : wave
}
