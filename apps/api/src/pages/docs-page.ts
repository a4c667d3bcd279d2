import { createRequire } from 'node:module'
import { fileOf, type PageFile, pageTypes } from './page-file.ts'

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
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
})
`

const html = { type: pageTypes.html, read: () => page }

/** Swagger UI from its package, showing /openapi.json. */
export const docsFiles: Record<string, PageFile> = {
  '/docs': html,
  '/docs/': html,
  '/docs/start.js': { type: pageTypes.js, read: () => start },
  '/docs/swagger-ui-bundle.js': fileOf(pageTypes.js, require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  '/docs/swagger-ui.css': fileOf(pageTypes.css, require.resolve('swagger-ui-dist/swagger-ui.css')),
  '/docs/favicon-32x32.png': fileOf(pageTypes.png, require.resolve('swagger-ui-dist/favicon-32x32.png')),
}
