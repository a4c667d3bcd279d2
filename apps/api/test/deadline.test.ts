import { pauseProcess } from '@wagate/test-kit/pause-process'
import { expect, test } from 'vitest'
import { Deadline } from '../src/http/deadline.ts'

test('an answer that arrived while the process was paused counts', async () => {
  const deadline = new Deadline(50)
  // As with an answer that is read after the timers.
  const answered = deadline.run(() => new Promise((resolve) => setImmediate(resolve, 'stored')))
  pauseProcess(100)
  expect(await answered).toBe('stored')
})

test('nothing begins after the time is up', async () => {
  const deadline = new Deadline(50)
  await deadline.run(async () => pauseProcess(100))
  let hasBegun = false
  const late = deadline.run(async () => {
    hasBegun = true
  })
  await expect(late).rejects.toMatchObject({ code: 'unavailable' })
  expect(hasBegun).toBe(false)
})

test('work that takes longer is given up', async () => {
  const deadline = new Deadline(20)
  await expect(deadline.run(() => new Promise(() => undefined))).rejects.toMatchObject({
    code: 'unavailable',
  })
  expect(deadline.isOver).toBe(true)
})
