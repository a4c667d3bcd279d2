import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeHostileFile, makeHostileMedia } from '@wagate/test-kit/media/hostile-media'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { eventually } from '@wagate/test-kit/until'
import sharp from 'sharp'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { InspectionTimeout, type Inspector } from '../src/media/inspection/inspector.ts'
import type { InspectionRequest, MediaFacts } from '../src/media/inspection/media-facts.ts'
import { inspectionPids, makeTestInspector, nodeOptions } from './inspection.ts'

/** A process from source takes seconds to start beside other tests. */
const options = { timeout: 120_000 }
const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
const inspectors: Inspector[] = []
const inspector = open()
let written = 0

afterAll(async () => {
  await Promise.all(inspectors.map((opened) => opened.close()))
  rmSync(folder, { recursive: true })
})

function open(given: { timeoutMs?: number } = {}): Inspector {
  const opened = makeTestInspector(given)
  inspectors.push(opened)
  return opened
}

function write(bytes: Buffer, type: InspectionRequest['type']): InspectionRequest {
  written += 1
  const file = join(folder, String(written))
  writeFileSync(file, bytes)
  return { file, type }
}

const inspect = (bytes: Buffer, type: InspectionRequest['type'], account = 'an account') =>
  inspector.inspect(account, write(bytes, type))

const sample = (type: InspectionRequest['type']) =>
  mediaSamples.find((media) => media.type === type)?.bytes ?? Buffer.alloc(0)

const hostile = (name: string, scale: number) => makeHostileFile(name, scale).bytes

/** Takes hundreds of ms to parse, which is no reason to end the process. */
const slowTag = hostile('ID3 tag full of tiny frames', 1)
/** Takes 8 s of the processor, without a read in between, and little memory. */
const endlessAnimation = hostile('WebP with an animation of pieces', 8)

/** The longest CPU time of this process between two turns of its event loop. A pause of the machine takes none. */
function watchBusyTime() {
  let last = process.cpuUsage()
  let maxMs = 0
  const ticks = setInterval(() => {
    const { user, system } = process.cpuUsage(last)
    last = process.cpuUsage()
    maxMs = Math.max(maxMs, (user + system) / 1000)
  }, 10)
  return { stop: () => clearInterval(ticks), maxMs: () => maxMs }
}

describe('an inspection', () => {
  test.each(mediaSamples)(
    'recognises the type by the bytes ($type)',
    options,
    async ({ type, mime, bytes }) => {
      expect(await inspect(bytes, type)).toMatchObject({ mime })
    },
  )

  test('finds the size and preview of a picture', options, async () => {
    const jpeg = await sharp({ create: { width: 300, height: 200, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer()
    const { thumbnail, ...facts } = await inspect(jpeg, 'image')
    expect(facts).toEqual({ mime: 'image/jpeg', extension: 'jpg', width: 300, height: 200 })
    const preview = await sharp(Buffer.from(thumbnail ?? '', 'base64')).metadata()
    expect(preview).toMatchObject({ format: 'jpeg', width: 32 })
  })

  test('finds the duration of audio', options, async () => {
    const second = Buffer.concat(Array.from({ length: 4 }, () => sample('audio')))
    expect(await inspect(second, 'audio')).toMatchObject({ seconds: 1 })
  })

  test('recognises a file of another type without opening it', options, async () => {
    expect(await inspect(sample('document'), 'image')).toEqual({
      mime: 'application/pdf',
      extension: 'pdf',
      text: 'plain',
    })
  })

  test('refuses a picture that cannot be opened', options, async () => {
    const damaged = Buffer.concat([Buffer.from('ffd8ff', 'hex'), Buffer.alloc(100)])
    await expect(inspect(damaged, 'image')).rejects.toMatchObject({ code: 'invalid_media' })
  })
})

describe('hostile files', () => {
  test('end in facts or a refusal, while this process is blocked for less than 200 ms', options, async () => {
    const files = makeHostileMedia()
    expect(files.length).toBeGreaterThanOrEqual(30)
    // Its files end by their CPU time, however little of it they get.
    const patient = open({ timeoutMs: 100_000 })
    await patient.inspect('first', write(sample('image'), 'image'))
    const requests = files.map(({ bytes, type }) => write(bytes, type))
    await new Promise((resolve) => setTimeout(resolve))
    const busy = watchBusyTime()
    const results = await Promise.allSettled(
      requests.map((request, n) => patient.inspect(String(n), request)),
    )
    busy.stop()
    for (const [n, result] of results.entries()) {
      const { name = '' } = files[n] ?? {}
      if (result.status === 'rejected') {
        expect([name, result.reason.code]).toEqual([name, 'invalid_media'])
      } else if (name.startsWith('JPEG dis') || name.startsWith('JPEG with false')) {
        expect([name, result.value]).toMatchObject([name, { width: 16_000, height: 16_000 }])
        expect(result.value).not.toHaveProperty('thumbnail')
      }
    }
    expect(busy.maxMs()).toBeLessThan(200)
    expect(await inspect(sample('image'), 'image')).toMatchObject({ mime: 'image/png' })
  })

  test('of one account do not hold up files of another', options, async () => {
    const order: string[] = []
    const slow = Array.from({ length: 5 }, () =>
      inspect(slowTag, 'audio', 'hostile').then(() => order.push('hostile')),
    )
    const other = inspect(sample('image'), 'image', 'other').then(() => order.push('other'))
    await Promise.all([...slow, other])
    // Behind the one at work and the one whose turn was next.
    expect(order.indexOf('other')).toBeLessThanOrEqual(2)
  })

  test('that use too much CPU time are ended, tried once more, and refused', options, async () => {
    const patient = open({ timeoutMs: 100_000 })
    await expect(patient.inspect('a', write(endlessAnimation, 'image'))).rejects.toMatchObject({
      name: 'MediaError',
      code: 'invalid_media',
    })
  })

  test('that take too long are not refused, because the machine may be busy', options, async () => {
    const impatient = open({ timeoutMs: 50 })
    await expect(impatient.inspect('a', write(slowTag, 'audio'))).rejects.toBeInstanceOf(InspectionTimeout)
  })
})

describe('the inspection process', () => {
  test(
    'is replaced when it is killed during an inspection, and the file is tried again',
    options,
    async () => {
      await inspect(sample('image'), 'image')
      const [killed] = inspectionPids()
      if (!killed) throw new Error('No process is at work')
      const interrupted = inspect(slowTag, 'audio', 'a')
      const waiting = [inspect(sample('image'), 'image', 'b'), inspect(sample('audio'), 'audio', 'c')]
      process.kill(killed, 'SIGKILL')
      const found: MediaFacts[] = await Promise.all(waiting)
      expect(found.map(({ mime }) => mime)).toEqual(['image/png', 'audio/mpeg'])
      expect(await interrupted).toMatchObject({ mime: 'audio/mpeg' })
      expect(inspectionPids()).not.toContain(killed)
    },
  )

  test('receives no settings of the worker', options, async () => {
    await inspect(sample('image'), 'image')
    const names = readFileSync(`/proc/${inspectionPids()[0]}/environ`, 'latin1')
      .split('\0')
      .map((entry) => entry.split('=')[0])
    expect(names.filter((name) => !/^(UV_THREADPOOL_SIZE|NODE_CHANNEL_.*|)$/.test(name ?? ''))).toEqual([])
  })

  test("ends with the worker's process, and when the inspector is closed", options, async () => {
    const own = open()
    const before = inspectionPids()
    await own.inspect('a', write(sample('image'), 'image'))
    const [pid = 0] = inspectionPids().filter((each) => !before.includes(each))
    await own.close()
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), eventually)
    await expect(own.inspect('a', write(sample('image'), 'image'))).rejects.toThrow('is closed')
  })

  test('does not outlive a worker that is killed while it starts', options, async () => {
    const program = new URL('../src/media/inspection/inspection-main.ts', import.meta.url)
    const child = fork(program, { execArgv: nodeOptions, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    child.disconnect()
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
  })
})
