import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { describe, expect, test } from 'vitest'

/**
 * Folders whose folders are rooms: each is about one subject, and imports between two of them go one way. Outside of the rooms
 * is only what starts the house. Each such file counts as a room.
 */
const houses: { house: string; starts: string[] }[] = [
  {
    house: 'apps/api/src',
    starts: [
      ...['main.ts', 'cli.ts', 'config.ts'],
      ...['start.ts', 'connections.ts', 'make-gateway.ts', 'app.ts', 'operations.ts'],
    ],
  },
  { house: 'apps/worker/src', starts: ['cli.ts', 'health.ts', 'main.ts', 'preload.ts', 'start.ts'] },
  { house: 'apps/worker/src/session', starts: [] },
  { house: 'packages/db/src/queries', starts: [] },
  { house: 'packages/simulator/src', starts: ['cli.ts', 'simulator.ts', 'socket-options.ts'] },
]

type Source = { path: string; text: string }

const imported = /(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g

function roomOf(path: string): string {
  const [first = ''] = path.split('/')
  return first
}

/** The first import from each room into each other one. */
function arrowsBetween(sources: Source[]): Map<string, Map<string, string>> {
  const arrows = new Map<string, Map<string, string>>()
  for (const { path, text } of sources) {
    for (const [, target = ''] of text.matchAll(imported)) {
      const to = normalize(join(dirname(path), target))
      if (to.startsWith('..') || roomOf(to) === roomOf(path)) continue
      const from = arrows.get(roomOf(path)) ?? new Map<string, string>()
      arrows.set(roomOf(path), from)
      if (!from.has(roomOf(to))) from.set(roomOf(to), `${path} imports ${to}`)
    }
  }
  return arrows
}

/** For every two rooms that reach each other: an import that is part of the way. */
function findCircles(sources: Source[]): string[] {
  const arrows = arrowsBetween(sources)
  function reaches(from: string, wanted: string, seen = new Set<string>()): boolean {
    return [...(arrows.get(from)?.keys() ?? [])].some((next) => {
      if (next === wanted) return true
      if (seen.has(next)) return false
      seen.add(next)
      return reaches(next, wanted, seen)
    })
  }
  return [...arrows].flatMap(([from, targets]) =>
    [...targets].filter(([to]) => reaches(to, from)).map(([, sentence]) => sentence),
  )
}

function readHouse(house: string): Source[] {
  return readdirSync(join(repository, house), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(join(repository, house, path), 'utf8') }))
}

describe.each(houses)('$house', ({ house, starts }) => {
  const sources = readHouse(house)

  test('every file is in a room, except what starts it', () => {
    expect(sources.length).toBeGreaterThan(50)
    const outside = sources.map(({ path }) => path).filter((path) => roomOf(path) === path)
    expect(outside.sort()).toEqual(starts.toSorted())
  })

  test('imports between two rooms go one way', () => {
    expect(arrowsBetween(sources).size).toBeGreaterThan(2)
    expect(findCircles(sources)).toEqual([])
  })
})

test('finds rooms that import each other, also through a third', () => {
  const file = (path: string, target: string) => ({ path, text: `import { x } from '${target}'` })
  const oneWay = [
    file('a/one.ts', '../b/two.ts'),
    file('b/two.ts', '../c/three.ts'),
    file('b/x.ts', './two.ts'),
  ]
  expect(findCircles(oneWay)).toEqual([])
  expect(findCircles([...oneWay, file('c/three.ts', '../a/one.ts')])).toEqual([
    'a/one.ts imports b/two.ts',
    'b/two.ts imports c/three.ts',
    'c/three.ts imports a/one.ts',
  ])
})
