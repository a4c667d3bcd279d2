import { expect, test } from 'vitest'
import { inSlices, letOthersRun } from '../src/http/in-slices.ts'

/** How many turns of the event loop are left to others, when these take so long in ms. */
async function turnsLeft(turnsMs: number[]): Promise<number> {
  let nowMs = 0
  let turns = 0
  await letOthersRun(
    async () => {
      nowMs += turnsMs[turns++] ?? 0
    },
    () => nowMs,
  )
  return turns
}

test.each([
  ['an idle event loop', [0.05], 1],
  ['others who need several turns', [2, 1, 0.5, 3, 0.05, 1], 5],
  ['others who never end', [3, 3, 3, 3, 3, 3, 3], 4],
])('large data waits for %s', async (_, turnsMs, turns) => {
  expect(await turnsLeft(turnsMs)).toBe(turns)
})

test('others have a turn before each slice of large data', async () => {
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  let slices = 0
  for await (const _ of inSlices(Buffer.alloc(3 * 2 ** 20))) {
    slices += 1
    expect(turns).toBeGreaterThanOrEqual(slices)
  }
  isOver = true
  expect(slices).toBe(3)
})
