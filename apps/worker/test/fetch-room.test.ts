import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FetchLimits } from '../src/media/fetch-media.ts'
import { type MediaDownloads, mediaPages, openMediaDownloads, picture } from './media-downloads.ts'

let downloads: MediaDownloads
beforeAll(async () => {
  downloads = await openMediaDownloads()
})
afterAll(() => downloads.close())

describe('room for media', () => {
  function makeRoom({ free = Number.POSITIVE_INFINITY } = {}) {
    const reserved: number[] = []
    const waited: number[] = []
    const room: FetchLimits['room'] = {
      tryGrow(bytes) {
        if (bytes > Math.max(free, ...waited)) return false
        reserved.push(bytes)
        return true
      },
      wait: async (bytes) => void waited.push(bytes),
      release: () => undefined,
    }
    return { room, reserved, waited }
  }

  test('is reserved before a body of known length is read', async () => {
    const { room, reserved } = makeRoom()
    await downloads.fetched(`${downloads.host.origin}/picture`, { room })
    expect(reserved).toEqual([picture.length])
  })

  test('grows with a body of unknown length', async () => {
    const { room, reserved } = makeRoom()
    await downloads.fetched(`${downloads.host.origin}/megabyte-in-chunks`, { room, bytesMax: 100e6 })
    expect(reserved.at(0)).toBe(256 * 1024)
    expect(reserved.at(-1)).toBe(1024 * 1024)
  })

  test('stays small for a host that sends almost nothing', async () => {
    const { room, reserved } = makeRoom()
    await downloads
      .fetched(`${downloads.host.origin}/drip`, { room, deadlineMs: 200, bytesMax: 100e6 })
      .catch(() => undefined)
    expect(reserved).toEqual([256 * 1024])
  })

  test.each([
    ['/picture', picture.length],
    ['/megabyte-in-chunks', 2 * 2 ** 20],
  ])('is waited for without holding a connection (%s)', async (path, bytes) => {
    const before = downloads.host.hits()
    const { room, waited } = makeRoom({ free: 300_000 * Number(path !== '/picture') })
    let makeFree: () => void = () => undefined
    const isFree = new Promise<void>((resolve) => {
      makeFree = resolve
    })
    const waiting = { ...room, wait: (wanted: number) => room.wait(wanted).then(() => isFree) }
    const body = downloads.fetched(downloads.host.origin + path, { room: waiting, bytesMax: 2 * 2 ** 20 })
    await expect.poll(() => waited).toEqual([bytes])
    expect(downloads.host.hits()).toBe(before + 1)
    makeFree()
    await body
    expect(downloads.host.hits()).toBe(before + 2)
  })

  test('does not exceed the reservation when the file has grown while it waited', async () => {
    let size = 10
    mediaPages['/grows'] = (_, response) => {
      size *= 2
      response.end(Buffer.alloc(size))
    }
    const { room } = makeRoom({ free: 0 })
    await expect(downloads.fetched(`${downloads.host.origin}/grows`, { room })).rejects.toMatchObject({
      name: 'MediaUnavailable',
      code: 'media_fetch_failed',
    })
  })
})
