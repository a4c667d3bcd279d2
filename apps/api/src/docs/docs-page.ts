import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { HttpAnswer } from '../http/http-answer.ts'
import type { RequestContext } from '../http/request-context.ts'

/** The page loads nothing from other hosts and works without the internet. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const require = createRequire(import.meta.url)

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>wagate API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <script defer src="/docs/swagger-ui-bundle.js"></script>
    <script defer src="/docs/start.js"></script>
  </head>
  <body><div id="swagger-ui"></div></body>
</html>
`

// validatorUrl: by default the page sends the document to swagger.io.
const start = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
})
`

type File = { type: string; read(): string | Promise<Uint8Array<ArrayBuffer>> }

/** Read once: the largest file has 1.4 MB. */
function fileOf(type: string, path: string): File {
  let bytes: Promise<Uint8Array<ArrayBuffer>> | undefined
  return { type, read: () => (bytes ??= readFile(path)) }
}
const html = { type: 'text/html; charset=utf-8', read: () => page }

/** Swagger UI from its package, showing /openapi.json. */
export const docsFiles: Record<string, File> = {
  '/docs': html,
  '/docs/': html,
  '/docs/start.js': { type: 'text/javascript; charset=utf-8', read: () => start },
  '/docs/swagger-ui-bundle.js': fileOf(
    'text/javascript; charset=utf-8',
    require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  ),
  '/docs/swagger-ui.css': fileOf(
    'text/css; charset=utf-8',
    require.resolve('swagger-ui-dist/swagger-ui.css'),
  ),
  '/docs/favicon-32x32.png': fileOf('image/png', require.resolve('swagger-ui-dist/favicon-32x32.png')),
}

export async function answerFile(
  { type, read }: File,
  { responseHeaders }: RequestContext,
): Promise<HttpAnswer> {
  responseHeaders['Content-Security-Policy'] = contentSecurityPolicy
  return { status: 200, content: { type, bytes: await read() } }
}
