import fc from 'fast-check'
import { type Described, described, own } from './described-operations.ts'
import { bodies, contentTypes, formOf, type Given, largeBodies } from './generated-bodies.ts'
import { brokenValues, valuesOf } from './generated-values.ts'

export type GeneratedRequest = {
  method: string
  path: string
  query: Given
  headers: Record<string, string>
  body: string | undefined
}

export function fillIn(request: GeneratedRequest, values: Record<string, string>): GeneratedRequest {
  const fill = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (marker, name: string) => values[name] ?? marker)
  return {
    ...request,
    query: request.query.map(([name, value]) => [name, typeof value === 'string' ? fill(value) : value]),
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, fill(value)])),
    body: request.body === undefined ? undefined : fill(request.body),
  }
}

const unknownNames = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'toString',
    'then',
    'SENDER',
    'sender[]',
    'a\0b',
    '\ud800',
    '',
    'ok',
    'api_key ',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

function rightly({ parameters }: Described): fc.Arbitrary<Given> {
  const known = parameters.map(({ name, schema, right, isRequired }) => {
    const value = fc.oneof(
      { weight: 12, arbitrary: right === undefined ? valuesOf(schema) : fc.constant(right) },
      { weight: 1, arbitrary: valuesOf(schema) },
    )
    const given = value.map((chosen): Given => [[name, chosen]])
    const absent = fc.constant<Given>([])
    return isRequired ? given : fc.oneof({ weight: 1, arbitrary: given }, { weight: 2, arbitrary: absent })
  })
  // Some operations need several optional parameters, and no others.
  const example = parameters.filter(({ isInExample }) => isInExample)
  return fc.oneof(
    { weight: 3, arbitrary: fc.tuple(...known).map((parts) => parts.flat()) },
    { weight: 1, arbitrary: fc.constant(example.map(({ name, right }): [string, unknown] => [name, right])) },
  )
}

function wrongly({ parameters }: Described): fc.Arbitrary<Given> {
  const known = parameters.map(({ name, schema, right }) =>
    fc
      .oneof(
        { weight: 3, arbitrary: fc.constant(right) },
        { weight: 3, arbitrary: valuesOf(schema) },
        { weight: 3, arbitrary: brokenValues },
        { weight: 2, arbitrary: fc.constant(undefined) },
      )
      .map((value): Given => (value === undefined ? [] : [[name, value]])),
  )
  const surplus = fc.oneof(
    { weight: 4, arbitrary: fc.constant<Given>([]) },
    { weight: 2, arbitrary: fc.array(fc.tuple(unknownNames, brokenValues), { maxLength: 3 }) },
    // Twice.
    {
      weight: 1,
      arbitrary: fc.constant<Given>(parameters.slice(0, 1).map(({ name, example }) => [name, example])),
    },
  )
  return fc.tuple(...known, surplus).map((parts) => parts.flat())
}

type Credential = { headers: Record<string, string>; query: Given; body: Given }
const credentials: fc.Arbitrary<Credential> = fc
  .tuple(
    fc.oneof(
      { weight: 8, arbitrary: fc.constant(own('key')) },
      { weight: 4, arbitrary: fc.constant(own('admin_key')) },
      { weight: 1, arbitrary: fc.constant(own('expired_key')) },
      { weight: 1, arbitrary: fc.constantFrom('', 'wag_nonsense', 'x'.repeat(300), `wag_${'0'.repeat(49)}`) },
    ),
    fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('header', 'query', 'body', 'bearer') },
      { weight: 1, arbitrary: fc.constantFrom('nowhere', 'two', 'twice') },
    ),
    brokenValues,
  )
  .map(([key, position, broken]): Credential => {
    const empty = { headers: {}, query: [], body: [] }
    switch (position) {
      case 'header':
        return { ...empty, headers: { 'x-api-key': key } }
      case 'bearer':
        return { ...empty, headers: { authorization: `Bearer ${key}` } }
      case 'query':
        return { ...empty, query: [['api_key', key]] }
      case 'body':
        return { ...empty, body: [['api_key', key]] }
      case 'two':
        return { headers: { 'x-api-key': key }, query: [['api_key', own('admin_key')]], body: [] }
      case 'twice':
        return { headers: { 'x-api-key': key }, query: [], body: [['api_key', broken]] }
      default:
        return empty
    }
  })

const strangeHeaders = fc.record(
  {
    'x-request-id': fc.oneof(
      fc.constantFrom('mine', 'a b', 'x'.repeat(200), '"', '<script>'),
      fc.stringMatching(/^[ -~]{0,40}$/),
    ),
    'idempotency-key': fc.oneof(
      fc.constant(own('idempotency_key')),
      fc.stringMatching(/^[ -~\u00a0-\u00ff]{0,300}$/),
    ),
    'sec-purpose': fc.constantFrom('prefetch', 'prefetch;prerender', 'none'),
    'content-encoding': fc.constantFrom('gzip', 'identity', 'br, gzip'),
    accept: fc.constantFrom('text/html', '*/*', ''),
    origin: fc.constant('https://evil.example'),
    cookie: fc.constant('api_key=wag_nonsense'),
    'x-forwarded-for': fc.constantFrom('127.0.0.1', "' OR 1=1", 'x'.repeat(500)),
    'x-http-method-override': fc.constantFrom('POST', 'DELETE'),
    host: fc.constantFrom('evil.example', 'localhost:1'),
  },
  { requiredKeys: [] },
)

function requestsTo(operation: Described): fc.Arbitrary<GeneratedRequest> {
  return fc
    .record({
      method: fc.oneof(
        { weight: 14, arbitrary: fc.constantFrom(...operation.methods) },
        { weight: 1, arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS') },
      ),
      prefix: fc.constantFrom('', '/api'),
      ending: fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom('', '/') },
        { weight: 1, arbitrary: fc.constantFrom('//', '/x', '%00', '.json', ';a=b') },
      ),
      given: fc.oneof(
        { weight: 1, arbitrary: rightly(operation) },
        { weight: 3, arbitrary: wrongly(operation) },
      ),
      splitAt: fc.double({ min: 0, max: 1, noNaN: true }),
      credential: credentials,
      headers: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: strangeHeaders }),
      contentType: contentTypes,
      write: fc.oneof({ weight: 400, arbitrary: bodies }, { weight: 1, arbitrary: largeBodies }),
    })
    .map(({ method, prefix, ending, given, splitAt, credential, headers, contentType, write }) => {
      const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(method)
      // Mostly all in the body or all in the query.
      const cut = hasBody ? (splitAt < 0.8 ? 0 : Math.round(given.length * splitAt)) : given.length
      const isForm = contentType.includes('form-urlencoded')
      const inBody = [...given.slice(cut), ...credential.body]
      const text = isForm && write.length === 1 && splitAt < 0.7 ? formOf(inBody) : write(inBody)
      return {
        method,
        path: `${prefix}${operation.path}${ending}`,
        query: [...given.slice(0, cut), ...credential.query, ...(hasBody ? [] : credential.body)],
        headers: {
          ...credential.headers,
          ...(headers as Record<string, string>),
          ...(hasBody && contentType && { 'content-type': contentType }),
        },
        body: hasBody ? text : undefined,
      }
    })
}

export const requests: fc.Arbitrary<GeneratedRequest> = fc.oneof(
  ...described.map((operation) => ({
    weight: operation.parameters.length > 0 ? 5 : 1,
    arbitrary: requestsTo(operation),
  })),
)
