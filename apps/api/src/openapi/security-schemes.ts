export const securitySchemes = {
  header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  query: { type: 'apiKey', in: 'query', name: 'api_key' },
  bearer: { type: 'http', scheme: 'bearer' },
}
