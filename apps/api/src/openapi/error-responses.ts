import { requestErrorGuide } from '../errors/error-catalogue.ts'
import { type RequestErrorCode, requestErrorStatus } from '../errors/request-errors.ts'
import { failureObject } from '../http/failure-body.ts'
import type { ResponseHeader } from './headers.ts'
import { toJsonSchema } from './json-schemas.ts'
import type { OpenApiResponse, Reference } from './openapi-types.ts'

const headersOfStatus: Record<number, ResponseHeader[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** One response for each HTTP status of the codes. */
export function errorResponses(
  codes: RequestErrorCode[],
  headersOfAll: ResponseHeader[],
): Record<string, OpenApiResponse> {
  const statuses = [...new Set(codes.map((code) => requestErrorStatus[code]))].sort()
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      errorResponse(
        codes.filter((code) => requestErrorStatus[code] === status),
        [...headersOfAll, ...(headersOfStatus[status] ?? [])],
      ),
    ]),
  )
}

function errorResponse(codes: RequestErrorCode[], headers: ResponseHeader[]): OpenApiResponse {
  const code = { 'x-extensible-enum': codes, description: codes.map(explain).join('\n') }
  const schema = { allOf: [toJsonSchema(failureObject, 'output'), { properties: { code } }] }
  return {
    description: codes.join(', '),
    headers: referToHeaders(headers),
    content: { 'application/json': { schema } },
  }
}

/** An item of a Markdown list. */
function explain(code: RequestErrorCode): string {
  const { meaning, action } = requestErrorGuide[code]
  return `- \`${code}\`: ${meaning} ${action}`
}

export function referToHeaders(names: ResponseHeader[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
