import { readFileSync } from 'node:fs'
import { settings } from '@wagate/shared/settings'
import { expect, it } from 'vitest'

const lines = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8').split('\n')
const shown = new Map(
  lines.flatMap((line) =>
    [...line.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=(.*)$/g)].map(([, name, value]) => [name, value]),
  ),
)

it('.env.example names every setting, and nothing else', () => {
  expect([...shown.keys()].sort()).toEqual(Object.keys(settings).sort())
})

it('a copy of .env.example changes nothing', () => {
  expect(lines.filter((line) => !/^(#|$)/.test(line))).toEqual([])
})

it.each(Object.entries(settings))('.env.example shows the default of %s', (name, schema) => {
  const example = shown.get(name) ?? ''
  const byDefault = schema.safeParse(undefined)
  if (example === '') expect(byDefault.data).toBeUndefined()
  else if (byDefault.success) expect(schema.parse(example)).toEqual(byDefault.data)
  else expect(schema.safeParse(example).success).toBe(true)
})
