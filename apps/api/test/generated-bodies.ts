import fc from 'fast-check'

export type Given = [name: string, value: unknown][]

export const contentTypes = fc.oneof(
  { weight: 9, arbitrary: fc.constant('application/json') },
  { weight: 3, arbitrary: fc.constant('application/x-www-form-urlencoded') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      'text/plain',
      'application/json; charset=utf-16',
      'multipart/form-data; boundary=x',
      'application/json;;;',
      ';',
      'application/JSON; charset="utf-8"',
    ),
  },
)

export const bodies = fc.oneof(
  { weight: 20, arbitrary: fc.constant((given: Given) => jsonOf(given)) },
  { weight: 4, arbitrary: fc.constant((given: Given) => formOf(given)) },
  {
    weight: 1,
    arbitrary: fc
      .oneof(
        fc.constantFrom(
          '',
          '  ',
          '{',
          '[]',
          'null',
          '"x"',
          '1',
          '{"a":1,}',
          '\ufeff{}',
          '{"a":1}{"b":2}',
          '\0',
          `{"a":${'['.repeat(20_000)}`,
        ),
        fc
          .integer({ min: 1, max: 100_000 })
          .map((depth) => `{"sender":${'{"x":'.repeat(Math.min(depth, 9000))}1`),
        fc.json(),
        fc.string({ unit: 'binary', maxLength: 100 }),
      )
      .map((text) => () => text),
  },
)

/** Rare, because large requests take long. */
export const largeBodies = fc.constantFrom(
  () => jsonOf([['x'.repeat(2 ** 20), 1]]),
  () => jsonOf(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, n] as [string, unknown])),
  () => formOf(Array.from({ length: 10_000 }, (_, n) => [`p${n}`, n] as [string, unknown])),
  () => jsonOf([['url', `data:image/png;base64,${'A'.repeat(100_000)}`]]),
  () => `{"sender":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
)

/** JSON text may contain a member twice, a JavaScript object cannot. */
function jsonOf(given: Given): string {
  return `{${given.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`
}

function textOf(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.toWellFormed()
}

export function formOf(given: Given): string {
  return given
    .map(([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(textOf(value))}`)
    .join('&')
}
