import { createRequire } from 'node:module'
import { fileOf, type PageFile, pageFile, pageTypes } from './page-file.ts'

const require = createRequire(import.meta.url)

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>wagate API</title>
    <link rel="icon" href="/docs/favicon-32x32.png">
    <meta name="color-scheme" content="light dark">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/docs.css">
    <link rel="preload" href="/docs/openapi.json" as="fetch" crossorigin="anonymous">
    <script defer src="/docs/swagger-ui-bundle.js"></script>
    <script defer src="/docs/start.js"></script>
  </head>
  <body><div id="swagger-ui"></div></body>
</html>
`

const html = { type: pageTypes.html, read: () => page }

/** Swagger UI from its package, showing the shorter form of /openapi.json. */
export const docsFiles: Record<string, PageFile> = {
  '/docs': html,
  '/docs/': html,
  '/docs/start.js': pageFile('docs/start.js'),
  '/docs/docs.css': pageFile('docs/docs.css'),
  '/docs/swagger-ui-bundle.js': fileOf(pageTypes.js, require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  '/docs/swagger-ui.css': fileOf(pageTypes.css, require.resolve('swagger-ui-dist/swagger-ui.css')),
  '/docs/favicon-32x32.png': fileOf(pageTypes.png, require.resolve('swagger-ui-dist/favicon-32x32.png')),
}
