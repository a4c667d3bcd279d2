import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Devnet } from '@wagate/devnet/devnet'
import { mountSmallDisk, type SmallDisk } from './small-disk.ts'

const bytes = 16 * 2 ** 20

/** Runs Redis with its file on a separate, small disk. Returns the reason if that is impossible. */
export async function withRedisOnSmallDisk(
  devnet: Devnet,
  work: (disk: SmallDisk) => Promise<void>,
): Promise<string | undefined> {
  const folder = join(devnet.dataFolder, 'redis')
  // By these it is found again.
  const kept = ['port', 'password'].map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
  await devnet.stop('redis')
  const disk = mountSmallDisk(folder, bytes)
  if (typeof disk === 'string') {
    await devnet.start('redis')
    return disk
  }
  for (const { name, text } of kept) writeFileSync(join(folder, name), text, { mode: 0o600 })
  await devnet.start('redis')
  try {
    await work(disk)
  } finally {
    await devnet.stop('redis')
    disk.unmount()
    await devnet.start('redis')
  }
  return undefined
}
