import { expect, test } from 'vitest'
import { makeLoginQueue } from '../src/device/login-queue.ts'

test('devices with waiting messages log in first, including those that got messages while they waited', async () => {
  const queue = makeLoginQueue(2)
  const urgent = new Set(['d'])
  const order: string[] = []
  const ends: (() => void)[] = []
  const begin = (name: string) =>
    queue
      .acquire(1, () => urgent.has(name))
      .then((release) => {
        order.push(name)
        ends.push(release)
      })
  const logins = ['a', 'b', 'c', 'd', 'e', 'f'].map(begin)
  urgent.add('f')
  for (const _ of logins) {
    await new Promise((resolve) => setImmediate(resolve))
    ends.shift()?.()
  }
  await Promise.all(logins)
  expect(order).toEqual(['a', 'b', 'd', 'f', 'c', 'e'])
  expect(queue.isIdle()).toBe(true)
})

test('never grants more units than there are, and releases each only once', async () => {
  const queue = makeLoginQueue(8)
  const never = () => false
  const first = await queue.acquire(4, never)
  const second = await queue.acquire(4, never)
  let isThird = false
  const third = queue.acquire(4, never).then((release) => {
    isThird = true
    return release
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isThird).toBe(false)
  first()
  first()
  ;(await third)()
  second()
  expect(queue.isIdle()).toBe(true)
})
