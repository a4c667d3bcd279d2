import fc from 'fast-check'
import type { JsonSchema } from '../src/openapi/json-schemas.ts'

/** Values that the schema allows. */
export function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.anyOf) return fc.oneof(...(schema.anyOf as JsonSchema[]).map(valuesOf))
  const types = [schema.type].flat()
  return fc.oneof(...types.map((type) => valuesOfType({ ...schema, type: type ?? 'string' })))
}

function valuesOfType(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { minimum = 1, maximum = 5e12 } = schema as { minimum?: number; maximum?: number }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return fc.integer({ min: minimum, max: maximum })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valuesOf((schema.items as JsonSchema | undefined) ?? { type: 'string' }), {
        maxLength: 5,
      })
    case 'object':
      return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 })
    case 'string':
      return textsOf(schema)
    default:
      throw new Error(`Say in generated-values.ts how to make values of ${JSON.stringify(schema)}`)
  }
}

function textsOf(schema: JsonSchema): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid()
  if (schema.format === 'date-time') {
    return fc
      .date({ min: new Date('2020-01-01'), max: new Date('2060-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern))
  const maxLength = Math.min(Number(schema.maxLength ?? 40), 40)
  return fc.string({ unit: 'grapheme', minLength: Number(schema.minLength ?? 0), maxLength })
}

/** Hostile and malformed values. */
export const brokenValues: fc.Arbitrary<unknown> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      '',
      ' ',
      '\0',
      'a\0b',
      '\ud800',
      'x\udc00',
      '\u202e',
      '__proto__',
      'constructor',
      'toString',
      '0',
      '-1',
      '00',
      '1e3',
      '0x10',
      'NaN',
      'Infinity',
      '٤٩١٥١١٢٣٤٥٦٧',
      '４９１５１１２３',
      '9'.repeat(15),
      '9'.repeat(400),
      -1,
      0,
      1.5,
      1e308,
      2 ** 31,
      2 ** 53,
      '%00',
      '%',
      '%s%n',
      '\r\nX-Injected: yes',
      'x\nX-Injected: yes',
      "' OR 1=1; --",
      '$1',
      '{{sender}}',
      '../../etc/passwd',
      'x'.repeat(5000),
      '😀'.repeat(3000),
      'data:;base64,',
      'data:image/png;base64,AAAA',
      'http://[',
      'https://x@y/',
      [],
      {},
      [[]],
      [null],
      { toString: 1 },
      { toString: null, valueOf: null },
      { length: 1e9 },
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 10, max: 2000 })
      .map((depth) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.double() },
)
