import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A file system in memory that can be full. */
export type SmallDisk = {
  folder: string
  /** Takes all the space that is left. */
  fill(): void
  free(): void
  unmount(): void
}

type Owner = { uid: number; gid: number }

/** Mounts a disk on the folder. Returns the reason if that is impossible, as it is for users other than root. */
export function mountSmallDisk(folder: string, bytes: number, owner?: Owner): SmallDisk | string {
  mkdirSync(folder, { recursive: true })
  const { uid, gid } = owner ?? { uid: 0, gid: 0 }
  const settings = `size=${bytes},mode=700,uid=${uid},gid=${gid}`
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', settings, 'tmpfs', folder], {
    encoding: 'utf8',
  })
  if (status !== 0) return `No small disk can be mounted here: ${(stderr || String(error)).trim()}`
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill: () => writeUntilFull(ballast),
    free: () => rmSync(ballast, { force: true }),
    unmount() {
      // A server may hold a removed file open for a while.
      const { status: ended, stderr: why } = spawnSync('umount', ['--lazy', folder], { encoding: 'utf8' })
      if (ended !== 0) throw new Error(`The small disk stays mounted: ${why}`)
    },
  }
}

function writeUntilFull(file: string): void {
  const descriptor = openSync(file, 'a')
  const chunk = Buffer.alloc(64 * 1024)
  try {
    for (;;) writeSync(descriptor, chunk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    closeSync(descriptor)
  }
}
