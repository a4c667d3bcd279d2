import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { keyOf, type MediaStore } from './media-store.ts'

/** In the same file system as the files, so that they can be renamed into place. */
const unfinishedFolder = 'unfinished'
/** No copy takes as long. */
const leftoverMsMin = 24 * 3_600_000

/** Files in a folder that only this user can enter. All workers and API processes must see the same folder. */
export function openFolderStore(folder: string): MediaStore {
  const pathOf = (content: Parameters<typeof keyOf>[0]) => join(folder, keyOf(content))

  return {
    async put(content, { path }) {
      const target = pathOf(content)
      const unfinished = join(folder, unfinishedFolder, randomUUID())
      await makeFolder(dirname(unfinished))
      await makeFolder(dirname(target))
      try {
        await copyFile(path, unfinished)
        await sync(unfinished, 0o600)
        await rename(unfinished, target)
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
      await sync(dirname(target))
    },
    async has(content) {
      return unlessMissing(
        stat(pathOf(content)).then(() => true),
        false,
      )
    },
    async read(content, range) {
      const handle = await unlessMissing(open(pathOf(content)), undefined)
      if (!handle) return undefined
      return createReadStream('', { fd: handle, ...(range && { start: range.first, end: range.last }) })
    },
    async remove(content) {
      await rm(pathOf(content), { force: true })
    },
    async stagingFolder() {
      await makeFolder(join(folder, unfinishedFolder))
      return join(folder, unfinishedFolder)
    },
    async removeLeftovers() {
      const unfinished = join(folder, unfinishedFolder)
      for (const name of await unlessMissing(readdir(unfinished), [])) {
        const path = join(unfinished, name)
        const written = await unlessMissing(stat(path), undefined)
        if (written && Date.now() - written.mtimeMs > leftoverMsMin) await rm(path, { force: true })
      }
    },
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
}

/** Of a folder: the names in it. */
async function sync(path: string, mode?: number): Promise<void> {
  const handle = await open(path, 'r')
  try {
    if (mode !== undefined) await handle.chmod(mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function unlessMissing<Found, Missing>(
  work: Promise<Found>,
  missing: Missing,
): Promise<Found | Missing> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return missing
    throw error
  }
}
