import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'

const fieldsMax = 12

type Context = { name: string; fields: string[] }

/** The types of a file that many functions get, or a part of. */
function contextsIn(source: string): Context[] {
  return [
    ...source.matchAll(/^export type (\w+(?:Context|Scope|Device|Call)) = (?:\w+ & )?\{\n(.*?)^\}/gms),
  ].map(([, name = '', body = '']) => ({
    name,
    fields: [...body.matchAll(/^ {2}(\w+)\??[:(]/gm)].map(([, field = '']) => field),
  }))
}

const contexts = ['apps/api/src', 'apps/worker/src'].flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => contextsIn(readFileSync(join(repository, folder, path), 'utf8'))),
)

test('no context has more fields than a reader can keep in mind', () => {
  expect(contexts.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['ApiContext', 'DeviceContext', 'DeviceScope', 'OutboxContext', 'OutboxDevice']),
  )
  expect(contexts.find(({ name }) => name === 'OutboxDevice')?.fields).toContain('pace')
  expect(contexts.filter(({ fields }) => fields.length > fieldsMax)).toEqual([])
})
