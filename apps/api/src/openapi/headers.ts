export const requestHeaders = {
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Returned in the response and written to the log, if it consists of 1 to 128 letters, digits, hyphens, dots and underscores',
    schema: { type: 'string', examples: ['order-4711'] },
  },
  'Last-Event-ID': {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Last `id` that the client has received. Browsers send it when they connect again',
    schema: { type: 'string' },
  },
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Alias of the parameter `idempotency_key`',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
}
export type RequestHeader = keyof typeof requestHeaders

export const responseHeaders = {
  'X-Request-Id': {
    description: 'Identifies this request in the log',
    required: true,
    schema: { type: 'string', pattern: '^[\\w.-]{1,128}$' },
  },
  'Idempotent-Replayed': {
    description: 'The idempotency key was used before; this request had no further effect',
    schema: { const: 'true' },
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate',
    required: true,
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'Remaining requests: "default";r=99;t=1 (draft-ietf-httpapi-ratelimit-headers)',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'Allowed requests: "default";q=100;w=2',
    schema: { type: 'string' },
  },
}
export type ResponseHeader = keyof typeof responseHeaders
