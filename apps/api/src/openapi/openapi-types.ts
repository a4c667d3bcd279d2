import type { JsonSchema } from './json-schemas.ts'

/** The parts of OpenAPI 3.1 that our document uses. */
export type OpenApiDocument = {
  openapi: string
  info: { description: string }
  tags: { name: string; description: string }[]
  servers: { url: string; description: string }[]
  paths: Record<string, OpenApiPath>
  /** Requests that the gateway makes. */
  webhooks: Record<string, OpenApiWebhook>
  components: { schemas: Record<string, JsonSchema>; headers: Record<string, OpenApiHeader> }
}
export type OpenApiPath = {
  servers?: { url: string }[]
  get?: OpenApiOperation
  post?: OpenApiOperation
}
/** `responses`: what the receiver answers. */
export type OpenApiWebhook = {
  post: Omit<OpenApiOperation, 'parameters' | 'responses'> & {
    responses: Record<string, { description: string }>
  }
}
export type OpenApiOperation = {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters: (OpenApiParameter | Reference)[]
  requestBody?: { description: string; content: Content }
  responses: Record<string, OpenApiResponse>
}
export type OpenApiParameter = {
  name: string
  in: string
  required: boolean
  description?: string
  schema: JsonSchema
  example?: unknown
}
export type OpenApiResponse = { description: string; headers?: Record<string, Reference>; content: Content }
type OpenApiHeader = { description: string; required?: boolean; schema: JsonSchema }
export type Reference = { $ref: string }
type Content = Record<string, { schema: JsonSchema; example?: unknown }>
