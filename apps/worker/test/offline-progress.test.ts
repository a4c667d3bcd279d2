import { expect, test } from 'vitest'
import { OfflineProgress, partSize } from '../src/session/receiving/offline-queue.ts'

function arrive(progress: OfflineProgress, count: number): void {
  for (let index = 0; index < count; index++) progress.noteArrival()
}

test('a part is complete when all that was requested has arrived', () => {
  const progress = new OfflineProgress()
  arrive(progress, partSize - 1)
  expect(progress.isPartComplete()).toBe(false)
  arrive(progress, 1)
  expect(progress.isPartComplete()).toBe(true)
  progress.noteRequest()
  expect(progress.isPartComplete()).toBe(false)
  arrive(progress, partSize)
  expect(progress.isPartComplete()).toBe(true)
})

test('a request after silence counts from what has arrived', () => {
  const progress = new OfflineProgress()
  arrive(progress, 30)
  progress.noteSilence()
  progress.noteRequest()
  arrive(progress, partSize - 1)
  expect(progress.isPartComplete()).toBe(false)
  arrive(progress, 1)
  expect(progress.isPartComplete()).toBe(true)
})

test('asks a silent server less and less often, and reports once that it has stalled', () => {
  const progress = new OfflineProgress()
  const pausesMs: number[] = []
  const reports: boolean[] = []
  for (let request = 0; request < 7; request++) {
    pausesMs.push(progress.pauseMs())
    reports.push(progress.noteSilence())
  }
  expect(pausesMs).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  expect(reports).toEqual([false, false, false, true, false, false, false])
})

test('a stanza that arrives ends the silence', () => {
  const progress = new OfflineProgress()
  for (let request = 0; request < 6; request++) progress.noteSilence()
  progress.noteArrival()
  expect(progress.pauseMs()).toBe(1000)
  expect([1, 2, 3, 4].map(() => progress.noteSilence())).toEqual([false, false, false, true])
})
