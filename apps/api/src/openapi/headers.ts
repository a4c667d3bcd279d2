const text = { type: 'string' }

export const securitySchemes = {
  header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  query: { type: 'apiKey', in: 'query', name: 'api_key' },
  bearer: { type: 'http', scheme: 'bearer' },
}

export const requestHeaders = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Comes back with the answer and stands in the log, if it is 1 to 128 letters, digits, hyphens, dots and underscores',
    schema: { type: 'string', examples: ['order-4711'] },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same as the parameter idempotency_key',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
}
export type RequestHeader = keyof typeof requestHeaders

export const responseHeaders = {
  'X-Request-Id': {
    description: 'Names this request in the log',
    required: true,
    schema: { type: 'string', pattern: '^[\\w.-]{1,128}$' },
  },
  'Idempotent-Replayed': {
    description: 'The idempotency key was used before: nothing new was done',
    schema: { const: 'true' },
  },
  'Retry-After': { description: 'Seconds', required: true, schema: { type: 'string', pattern: '^\\d+$' } },
  'WWW-Authenticate': { description: 'How to give a key', required: true, schema: text },
  RateLimit: {
    description: 'What is left: "default";r=99;t=1 (draft-ietf-httpapi-ratelimit-headers)',
    schema: text,
  },
  'RateLimit-Policy': { description: 'What is allowed: "default";q=100;w=2', schema: text },
}
export type ResponseHeader = keyof typeof responseHeaders
