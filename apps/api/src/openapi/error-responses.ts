import { requestErrorGuide } from '@wagate/shared/error-catalogue'
import { type RequestErrorCode, requestErrorStatus } from '@wagate/shared/error-codes'
import { failureObject } from '../http/failure-body.ts'
import type { ResponseHeader } from './headers.ts'
import { toJsonSchema } from './json-schemas.ts'
import type { OpenApiResponse, Reference } from './openapi-types.ts'

const headersOf: Record<number, ResponseHeader[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** A response for each status that the codes have. */
export function errorResponses(
  codes: RequestErrorCode[],
  headersOfAll: ResponseHeader[],
): Record<string, OpenApiResponse> {
  const statuses = [...new Set(codes.map((code) => requestErrorStatus[code]))].sort()
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      refusal(
        codes.filter((code) => requestErrorStatus[code] === status),
        [...headersOfAll, ...(headersOf[status] ?? [])],
      ),
    ]),
  )
}

function refusal(codes: RequestErrorCode[], headers: ResponseHeader[]): OpenApiResponse {
  const code = { 'x-extensible-enum': codes, description: codes.map(explain).join('\n') }
  const schema = { allOf: [toJsonSchema(failureObject, 'output'), { properties: { code } }] }
  return {
    description: codes.join(', '),
    headers: refer(headers),
    content: { 'application/json': { schema } },
  }
}

/** A line of a Markdown list. */
function explain(code: RequestErrorCode): string {
  const { meaning, action } = requestErrorGuide[code]
  return `- \`${code}\`: ${meaning} ${action}`
}

export function refer(names: ResponseHeader[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
