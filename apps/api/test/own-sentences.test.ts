import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Operation } from '../src/calls/operation.ts'
import { operations } from '../src/operations.ts'
import { collectParameters } from '../src/parameters/collect-parameters.ts'
import { listParameters } from '../src/parameters/list-parameters.ts'
import { type Gateway, startGateway, startReplica } from './gateway.ts'
import { formOf, type Given } from './generated-bodies.ts'
import { type InProcessClient, makeInProcessClient } from './in-process.ts'
import { createKeyHolder } from './tenant.ts'

let gateway: Gateway
let api: Awaited<ReturnType<typeof startReplica>>
let ask: InProcessClient
let key: string
beforeAll(async () => {
  gateway = await startGateway()
  api = await startReplica(gateway)
  ask = makeInProcessClient(api)
  key = (await createKeyHolder(gateway, { role: 'ADMIN', expiresAt: null })).key
})
afterAll(async () => {
  await api.close()
  await gateway.close()
})

/** Sentences of a library, and what only programmers of the gateway understand. */
const ofLibraries =
  /invalid (input|string|number|option|type|date|element|key|value|uuid|url|email|format)|expected|received (string|number|undefined|nan)|too (big|small)|unrecognized|\/\^|[<>]=|zod|\bNaN\b|undefined|\[object|must match|TypeError|not iterable|syntax/i

const wrongValues: unknown[] = [
  ...[
    '',
    '   ',
    '\t\n',
    'word',
    '9'.repeat(20),
    '9'.repeat(400),
    '-1',
    '1.5',
    '1e400',
    'NaN',
    '0x10',
    '+',
    ',',
  ],
  ...['x'.repeat(5000), '😀'.repeat(3000), 'a\0b', '\ud800', 'x\udc00', '\u202e', '\ufeff', '"', '%', '%E9'],
  ...[
    '[1,2]',
    '[',
    '{"a":1}',
    'null',
    'true',
    'undefined',
    '[object Object]',
    'message.recieved',
    'recieved',
  ],
  ...[
    'tomorrow',
    '2030-02-30T12:00:00Z',
    '2030-01-31T12:00:00',
    '2030-01-31',
    '0000-00-00',
    '2030-13-01T25:61:61+99:99',
  ],
  ...['a@b', 'http://[', 'ftp://x/', 'data:,', '__proto__', 'constructor'],
  ...[null, true, false, 0, -1, 1.5, 1e21, 2 ** 31, 2 ** 53],
  ...[[], [[]], [null], ['word'], [1.5], {}, { a: 1 }, { length: 1e9 }, { toString: 1 }],
]

/** What takes seconds, waits for a phone, or does not end. Only requests that these refuse are tried. */
const slow = new Set([
  ...['generate-qr', 'pair-code', 'pairing-status', 'restart-session', 'check-number', 'test-webhook'],
  ...[
    'passkey-challenge',
    'passkey-assertion',
    'passkey-confirm',
    'events',
    'events/stream',
    'export-account',
  ],
  ...['send-message', 'send-media', 'create-user', 'create-device', 'create-link'],
])

type Way = {
  name: string
  method: string
  send(given: Given): { query: Given; body?: string; type?: string }
}

const jsonOf = (given: Given) => JSON.stringify(Object.fromEntries(given))
const ways: Way[] = [
  { name: 'query', method: 'GET', send: (query) => ({ query }) },
  {
    name: 'JSON',
    method: 'POST',
    send: (given) => ({ query: [], body: jsonOf(given), type: 'application/json' }),
  },
  {
    name: 'form',
    method: 'POST',
    send: (given) => ({ query: [], body: formOf(given), type: 'application/x-www-form-urlencoded' }),
  },
  {
    name: 'parts',
    method: 'POST',
    send: (given) => ({ query: [], body: partsOf(given), type: 'multipart/form-data; boundary=xyz' }),
  },
]

function partsOf(given: Given): string {
  const parts = given.map(
    ([name, value]) => `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return `${parts.join('')}--xyz--\r\n`
}

const waysOf = ({ methods, takesFile, isPublic }: Operation) =>
  ways.filter(({ method, name }) => {
    if (takesFile) return false
    return methods.includes(method as 'GET') && !(isPublic && name === 'query')
  })

const tried = operations.filter((operation) => Object.keys(operation.parameters.shape).length > 0)

test.each(tried)('$name refuses values with sentences of the gateway', async (operation) => {
  const example = Object.entries(operation.example.given).map(([name, value]): [string, unknown] => [
    name,
    value,
  ])
  const problems: string[] = []
  const attempts = Object.keys(operation.parameters.shape).flatMap((parameter) =>
    waysOf(operation).flatMap((way) =>
      wrongValues
        .filter((value) => typeof value === 'string' || way.name === 'JSON')
        .map((value) => ({ parameter, way, value })),
    ),
  )
  await Promise.all(
    attempts.map(async ({ parameter, way, value }, index) => {
      const given: Given = [...example.filter(([name]) => name !== parameter), [parameter, value]]
      if (slow.has(operation.name) && isAccepted(operation, given)) return
      const { query, body, type } = way.send(given)
      const answer = await ask({
        method: way.method,
        path: `${index % 2 ? '/api' : ''}/${operation.name}`,
        query,
        headers: { ...(!operation.isPublic && { 'x-api-key': key }), ...(type && { 'content-type': type }) },
        body,
      })
      const at = `${way.name} ${parameter} ${JSON.stringify(value)?.slice(0, 60)}: ${answer.status}`
      if (answer.status >= 500 && !isForLack(answer.text)) problems.push(`${at} ${answer.text}`)
      const said = sentencesOf(answer.text)
      if (ofLibraries.test(said)) problems.push(`${at} ${said}`)
      problems.push(...answer.problems.map((problem) => `${at} ${problem}`))
    }),
  )
  expect(problems).toEqual([])
})

function isAccepted({ parameters }: Operation, given: Given): boolean {
  const collected = collectParameters([], given, listParameters(parameters))
  return parameters.safeParse(Object.fromEntries(collected)).success
}

/** There is no worker, so nothing can be encrypted. */
const isForLack = (text: string) => JSON.parse(text).code === 'unavailable'

/** Without what the caller wrote. */
function sentencesOf(text: string): string {
  const {
    ok,
    error,
    details = [],
  } = JSON.parse(text) as {
    ok: boolean
    error?: string
    details?: { message: string }[]
  }
  const said = ok ? '' : [error, ...details.map(({ message }) => message)].join('\n')
  return said.replaceAll(
    /There is no [^\n:]*|has [^\n]*(?:, which is not a type of event| at place \d+)/g,
    '',
  )
}
