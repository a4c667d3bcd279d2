import { readdirSync, readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import {
  document,
  documentedStatus,
  exampleProblems,
  schemaProblems,
  violations,
} from '@wagate/test-kit/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestErrorStatus } from '../src/errors/request-errors.ts'
import { makeErrorPage } from '../src/openapi/error-page.ts'
import { makeEventPage } from '../src/openapi/event-page.ts'
import { makeEventSchemas } from '../src/openapi/event-schemas.ts'
import { makeReference } from '../src/openapi/reference.ts'
import { operationGroups, operations } from '../src/operations.ts'
import { docsFiles } from '../src/pages/docs-page.ts'
import { type Gateway, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

describe('the document', () => {
  test('is served without a key and is the one that the tests check responses against', async () => {
    const answer = await gateway.anonymous.get('/openapi.json')
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(document)))
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  test('has the groups of docs/guide.md, with the operations in the same order', () => {
    const guide = readFileSync(new URL('../../../docs/guide.md', import.meta.url), 'utf8')
    const names = new Set(operations.map(({ name }) => name))
    const chapters = guide
      .split(/^## /m)
      .slice(1)
      .map((chapter) => {
        const [title = ''] = chapter.split('\n')
        const rows = [...chapter.matchAll(/^\|[^|]*\| `([\w/-]+)`/gm)].map(([, name = '']) => name)
        return { title, operations: [...new Set(rows)].filter((name) => names.has(name)) }
      })
    expect(
      operationGroups.map((group) => ({
        title: group.title,
        operations: group.operations.map(({ name }) => name),
      })),
    ).toEqual(chapters)
    expect(document.tags.slice(0, -1).map(({ name }) => name)).toEqual(chapters.map(({ title }) => title))
  })

  test('says of GET and POST alike that an operation needs a key', () => {
    const keys = [{ header: [] }, { query: [] }, { bearer: [] }]
    for (const { name, isPublic } of operations) {
      const { get, post } = document.paths[`/${name}`] ?? {}
      for (const method of [get, post])
        if (method) expect([name, method.security]).toEqual([name, isPublic ? [] : keys])
    }
  })

  test('is valid OpenAPI 3.1 for the official schema', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  })

  test('passes the strict rules of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const source = JSON.stringify(document)
    const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' })
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    )
  })

  test('lists every operation with its methods, a unique name and both prefixes', () => {
    const described = Object.entries(document.paths)
      .filter(([, { servers }]) => !servers)
      .map(([path, { get, post }]) => [path.slice(1), [...(get ? ['GET'] : []), ...(post ? ['POST'] : [])]])
    const operationsAndMedia = [...operations.map(({ name, methods }) => [name, methods]), ['media', ['GET']]]
    expect(described).toEqual(operationsAndMedia)
    expect(document.servers.map(({ url }) => url)).toEqual(['/', '/api'])
    const ids = Object.values(document.paths).flatMap(({ get, post }) =>
      [get, post].flatMap((o) => o?.operationId ?? []),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('describes every parameter', () => {
    for (const { name, parameters } of operations) {
      const undescribed = Object.entries(parameters.shape).filter(
        ([, type]) => !(type as { description?: string }).description,
      )
      expect(undescribed.map(([parameter]) => `${parameter} of ${name} has no description`)).toEqual([])
    }
  })

  test('contains only existing codes, each under its status', () => {
    for (const { get, post } of Object.values(document.paths)) {
      for (const { responses } of [get, post].filter((operation) => operation !== undefined)) {
        for (const [status, { description }] of Object.entries(responses)) {
          if (Number(status) < 400 || description === 'Not healthy') continue
          for (const code of description.split(', ')) {
            expect(requestErrorStatus[code as keyof typeof requestErrorStatus], code).toBe(Number(status))
          }
        }
      }
    }
  })

  test.each(operations)('contains an example of $name that matches its schemas', (operation) => {
    expect(exampleProblems(operation)).toEqual([])
  })
})

test.each([
  ['api.md', () => makeReference(operations)],
  ['errors.md', makeErrorPage],
  ['event-types.md', makeEventPage],
])('docs/%s is up to date: run "npm run api-docs"', (name, make) => {
  const written = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
  expect(written).toBe(make())
})

test('docs/events has the schema of every type of event, and its example matches: run "npm run api-docs"', () => {
  const folder = new URL('../../../docs/events/', import.meta.url)
  const written = readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')])
  expect(Object.fromEntries(written)).toEqual(Object.fromEntries(makeEventSchemas()))
  for (const [name = '', text = ''] of written) {
    const schema = JSON.parse(text)
    expect([name, ...schemaProblems(schema, schema.examples[0])]).toEqual([name])
    expect(Object.keys(schema.examples[0].data)).toEqual(Object.keys(schema.properties.data.properties))
  }
})

describe('routes and document agree', () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

  // A stream has no end to wait for.
  const answering = operations.filter(({ isStream }) => !isStream)

  test.each(answering)('on $name, for every method, prefix and spelling', async ({ name }) => {
    for (const path of [`/${name}`, `/${name}/`, `/api/${name}`, `/api/${name}/`]) {
      await Promise.all(
        methods.map(async (method) => {
          const { status } = await gateway.admin.request(path, { method })
          expect(documentedStatus(method, path)).toContain(status)
        }),
      )
    }
  })

  test('and no other path responds', async () => {
    const described = new Set([
      ...Object.entries(document.paths).flatMap(([path, { servers }]) =>
        servers ? [path] : [path, `/api${path}`],
      ),
      ...Object.keys(docsFiles),
    ])
    const tried = [...described].flatMap((path) => [`/api${path}`, `${path}/x`, path.toUpperCase()])
    for (const path of tried.filter((path) => !described.has(path.replace(/(?<=.)\/$/, '')))) {
      const answers = await Promise.all(methods.map((method) => gateway.admin.request(path, { method })))
      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, ...methods.map(() => 404)])
    }
  })

  test('no test takes the page of a path for a response of its operation', async () => {
    for (const method of ['GET', 'HEAD']) {
      const page = await fetch(`${gateway.url}/sign-in`, { method, headers: { accept: 'text/html' } })
      const { status, headers } = page
      expect(status).toBe(200)
      expect(violations(method, '/sign-in', { status, headers, text: await page.text() })).toEqual([])
      expect(violations(method, '/send-message', { status, headers, text: '' })).not.toEqual([])
    }
  })

  test('every test detects undocumented responses', async () => {
    const right = await fetch(`${gateway.url}/user-info`)
    const text = await right.text()
    const answer = { status: 401, headers: right.headers, text }
    expect(violations('GET', '/user-info', answer)).toEqual([])
    const changed = (change: Record<string, unknown>) => JSON.stringify({ ...JSON.parse(text), ...change })
    const wrong = [
      violations('GET', '/user-info', { ...answer, status: 404 }),
      violations('GET', '/user-info', { ...answer, text: changed({ surprise: 1 }) }),
      violations('GET', '/user-info', {
        ...answer,
        text: changed({ details: [{ parameter: 'x', message: 'y', z: 1 }] }),
      }),
      violations('GET', '/user-info', { ...answer, text: changed({ code: 'not_cancelable' }) }),
      violations('GET', '/user-info', { ...answer, text: changed({ ok: true }) }),
      violations('GET', '/user-info', { ...answer, headers: new Headers() }),
      violations('PUT', '/user-info', answer),
      violations('GET', '/nothing', answer),
    ]
    for (const found of wrong) expect(found).not.toEqual([])
  })
})
