import { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gatherWrites } from '../src/gather-writes.ts'

/** `calls`: what came together. */
function openStream(): { stream: Writable; calls: string[][] } {
  const calls: string[][] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      calls.push([String(chunk)])
      done()
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => String(chunk)))
      done()
    },
  })
  gatherWrites(stream)
  return { stream, calls }
}

test('writes of one turn of the event loop leave together, in order', async () => {
  const { stream, calls } = openStream()
  stream.write('a')
  await Promise.resolve()
  stream.write('b')
  process.nextTick(() => stream.write('c'))
  await nextTurn()
  stream.write('d')
  await nextTurn()
  expect(calls).toEqual([['a', 'b', 'c'], ['d']])
})

test('calls back for each write', async () => {
  const { stream } = openStream()
  const done: number[] = []
  stream.write('a', () => done.push(1))
  stream.write('b', 'utf8', () => done.push(2))
  await nextTurn()
  await nextTurn()
  expect(done).toEqual([1, 2])
})

test('a stream that ends writes everything first', async () => {
  const { stream, calls } = openStream()
  stream.write('a')
  stream.end('b')
  await nextTurn()
  expect(calls.flat()).toEqual(['a', 'b'])
  expect(stream.writableFinished).toBe(true)
})
