import type { Operation } from '@wagate/api/calls/operation'
import { requestErrorStatus } from '@wagate/api/errors/request-errors'
import { live, ready } from '@wagate/api/health/health-checks'
import { makeDocument } from '@wagate/api/openapi/document'
import type { OpenApiOperation, OpenApiPath, OpenApiResponse } from '@wagate/api/openapi/openapi-types'
import { operationGroups } from '@wagate/api/operations'
import { pageTypes } from '@wagate/api/pages/page-file'
import { operationPages } from '@wagate/api/pages/pages'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

export const document = makeDocument(operationGroups, [live, ready])
export type AnswerSeen = { status: number; headers: Headers; text: string }

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addFormat('base64', /^[A-Za-z0-9+/]*={0,2}$/)
ajv.addSchema({ $id: 'document', ...forbidTheUnknown(document) })
const validators = new Map<string, ValidateFunction>()

/** How a response deviates from the OpenAPI document. Empty if it conforms. */
export function violations(method: string, path: string, answer: AnswerSeen): string[] {
  const { status, headers } = answer
  const found = headersOfEveryAnswer.flatMap(([name, value]) =>
    headers.get(name) === value ? [] : [`${name} is not ${value}`],
  )
  const item = pathItem(path)
  const operation = item && operationOf(item, method)
  if (isPage(method, path, answer)) return found
  if (operation) return [...found, ...violationsOf(operation, { ...answer, isHead: method === 'HEAD' })]
  if (item && method === 'OPTIONS') {
    if (status !== 204 && status < 400) found.push(`OPTIONS answers ${status}`)
    if (status === 204 && (answer.text !== '' || !headers.get('allow'))) found.push('OPTIONS without Allow')
    if (status === 204) return found
  } else if (item && status === 405 && !headers.get('allow')) found.push('405 without Allow')
  const codes = ['invalid_parameter', 'headers_too_large', item ? 'method_not_allowed' : 'not_found']
  if (method === 'HEAD') return status === (item ? 405 : 404) ? found : [...found, `HEAD answers ${status}`]
  return [...found, ...violationsOfFailure(answer, codes)]
}

/** For a client that prefers HTML, on the path of an operation that only takes POST. */
function isPage(method: string, path: string, { status, headers, text }: AnswerSeen): boolean {
  if (status !== 200 || headers.get('content-type') !== pageTypes.html || !(path in operationPages))
    return false
  return method === 'HEAD' ? text === '' : method === 'GET' && text.startsWith('<!doctype html>')
}

/** Every documented status of a method on a path. */
export function documentedStatus(method: string, path: string): number[] {
  const item = pathItem(path)
  const operation = item && operationOf(item, method)
  if (operation) return Object.keys(operation.responses).map(Number)
  if (!item) return [404]
  return method === 'OPTIONS' ? [204] : [405]
}

export function exampleProblems({ name, parameters, isStream, example }: Operation): string[] {
  const given = parameters.safeParse(example.given)
  const post = document.paths[`/${name}`]?.post ?? document.paths[`/${name}`]?.get
  // The type of a stream is not JSON.
  const validate = post && !isStream ? validatorOf(post, 200) : undefined
  const answers = isStream || validate?.({ ok: true, ...example.answer })
  return [
    ...(given.success ? [] : [`the request of ${name}: ${given.error.message}`]),
    ...(answers ? [] : [`the answer of ${name}: ${ajv.errorsText(validate?.errors)}`]),
  ]
}

/** How a value deviates from a JSON Schema that names all its fields. */
export function schemaProblems(schema: object, value: unknown): string[] {
  return ajv.validate(forbidTheUnknown(schema), value) ? [] : [ajv.errorsText()]
}

const headersOfEveryAnswer = [
  ['cache-control', 'no-store'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
] as const

function pathItem(path: string): OpenApiPath | undefined {
  const direct = document.paths[path]
  if (direct?.servers) return direct
  const bare = path.replace(/\/$/, '').replace(/^\/api(?=\/)/, '')
  const item = document.paths[bare]
  return item?.servers ? undefined : item
}

function operationOf(item: OpenApiPath, method: string): OpenApiOperation | undefined {
  if (method === 'POST') return item.post
  if (method === 'GET') return item.get
  const isRead = item.get && !item.get.responses[400]?.description.includes('prefetch_refused')
  return method === 'HEAD' && isRead ? item.get : undefined
}

function violationsOf(
  operation: OpenApiOperation,
  { status, headers, text, isHead }: AnswerSeen & { isHead: boolean },
): string[] {
  const response = operation.responses[status]
  if (!response)
    return [
      `${operation.operationId} answers ${status}, which its operation does not name: ${text.slice(0, 300)}`,
    ]
  const found = violationsOfHeaders(response, headers).map((violation) => `${status}: ${violation}`)
  if (isHead) return text === '' ? found : [...found, 'HEAD has a body']
  const body = parseJson(text, headers)
  if (body === undefined) return [...found, `not JSON: ${text.slice(0, 300)}`]
  const validate = validatorOf(operation, status)
  if (!validate(body))
    found.push(
      `${operation.operationId} ${status}: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`,
    )
  return [...found, ...violationsOfEnvelope(operation, status, body)]
}

function violationsOfEnvelope(
  operation: OpenApiOperation,
  status: number,
  body: Record<string, unknown>,
): string[] {
  if (operation.operationId === 'openapi' && status === 200) return []
  return body.ok === status < 400 ? [] : [`ok is ${body.ok} at ${status}`]
}

function violationsOfFailure({ status, headers, text }: AnswerSeen, codes: string[]): string[] {
  const body = parseJson(text, headers) ?? {}
  const code = codes.find((known) => known === body.code)
  const isRight =
    body.ok === false &&
    typeof body.error === 'string' &&
    typeof body.request_id === 'string' &&
    code !== undefined &&
    requestErrorStatus[code as keyof typeof requestErrorStatus] === status
  return isRight ? [] : [`neither ${codes.join(' nor ')}: ${status} ${text.slice(0, 300)}`]
}

function violationsOfHeaders(response: OpenApiResponse, headers: Headers): string[] {
  return Object.keys(response.headers ?? {}).flatMap((name) => {
    const value = headers.get(name)
    if (value === null) return document.components.headers[name]?.required ? [`${name} is missing`] : []
    return validator(`/components/headers/${name}/schema`)(value)
      ? []
      : [`${name} is ${JSON.stringify(value)}`]
  })
}

function validatorOf({ operationId }: OpenApiOperation, status: number): ValidateFunction {
  return validator(`${pointers.get(operationId)}/responses/${status}/content/application~1json/schema`)
}

function validator(pointer: string): ValidateFunction {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` })
  validators.set(pointer, validate)
  return validate
}

const pointers = new Map(
  Object.entries(document.paths).flatMap(([path, { get, post }]) => {
    const escaped = path.replaceAll('~', '~0').replaceAll('/', '~1')
    return [
      ...(get ? [[get.operationId, `/paths/${escaped}/get`] as const] : []),
      ...(post ? [[post.operationId, `/paths/${escaped}/post`] as const] : []),
    ]
  }),
)

function parseJson(text: string, headers: Headers): Record<string, unknown> | undefined {
  if (headers.get('content-type') !== 'application/json; charset=utf-8') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Clients must tolerate new fields and values, but these tests must detect undocumented ones. */
function forbidTheUnknown(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value), (_, inner) => {
    if (inner?.['x-extensible-enum']) return { ...inner, enum: inner['x-extensible-enum'] }
    return inner?.type === 'object' && inner.properties ? { ...inner, unevaluatedProperties: false } : inner
  })
}
