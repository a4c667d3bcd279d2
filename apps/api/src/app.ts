import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { answerOperation } from './calls/answer-operation.ts'
import { AppError } from './errors/app-error.ts'
import { live, ready } from './health/health-checks.ts'
import { type HttpAnswer, jsonType } from './http/http-answer.ts'
import { allowMethods } from './http/methods.ts'
import { htmlType, prefersType } from './http/prefers-type.ts'
import type { RequestContext } from './http/request-context.ts'
import { makeResponder } from './http/responder.ts'
import type { Gateway } from './make-gateway.ts'
import { makeDocument, startingPoints } from './openapi/document.ts'
import { makePageDocument } from './openapi/page-document.ts'
import { operationGroups, operations } from './operations.ts'
import { docsFiles } from './pages/docs-page.ts'
import { answerFile } from './pages/page-file.ts'
import { installationFile, operationPages, pageFiles } from './pages/pages.ts'
import { orNearest } from './parameters/nearest-name.ts'
import { answerMedia } from './received-media/answer-media.ts'

const operationNames = operations.map(({ name }) => name)

export function makeApp(gateway: Gateway): Hono<{ Bindings: HttpBindings }> {
  const { context, reception, metrics } = gateway
  const { config, log } = context
  const respond = makeResponder({ trustedProxies: config.http.trustedProxies, log, metrics })
  const app = new Hono<{ Bindings: HttpBindings }>()

  for (const [path, file] of Object.entries(operationPages)) {
    app.get(path, async (c, next) =>
      prefersType(htmlType, c.req.header('accept') ?? null)
        ? respond(c, (request) => answerFile(file, request))
        : next(),
    )
  }

  const serve = (name: string, answer: (request: RequestContext) => Promise<HttpAnswer>) => {
    for (const path of [`/${name}`, `/api/${name}`]) {
      for (const spelling of [path, `${path}/`]) app.all(spelling, (c) => respond(c, answer))
    }
  }
  for (const operation of operations) {
    serve(operation.name, (request) => answerOperation(gateway, operation, request))
  }
  serve('media', (request) => answerMedia(context, reception, request))

  /** Without an API key, and read-only. */
  const publish = (path: string, answer: (request: RequestContext) => Promise<HttpAnswer>) =>
    app.all(path, (c) =>
      respond(c, async (request) =>
        allowMethods(request, ['GET', 'HEAD']) === 'options' ? { status: 204 } : answer(request),
      ),
    )
  publish('/', async () => ({ status: 200, body: startingPoints }))
  for (const check of [live, ready]) publish(check.path, (request) => check.answer(gateway, request))
  // Built on the first request, so that it does not delay the start.
  const publishDocument = (path: string, make: () => object) => {
    let document: string | undefined
    publish(path, async () => {
      document ??= JSON.stringify(make())
      return { status: 200, content: { type: jsonType, bytes: document } }
    })
  }
  publishDocument('/openapi.json', () => makeDocument(operationGroups, [live, ready]))
  publishDocument('/docs/openapi.json', () => makePageDocument(operationGroups, [live, ready]))
  const files = { ...docsFiles, ...pageFiles, '/accounts/installation.json': installationFile(config) }
  for (const [path, file] of Object.entries(files)) {
    publish(path, (request) => answerFile(file, request))
  }

  app.notFound((c) =>
    respond(c, async () => {
      // Not the path itself, which may contain a key.
      const nearest = orNearest(c.req.path.replace(/^\/(?:api\/)?/, ''), operationNames, (name) => `/${name}`)
      throw new AppError('not_found', `No such path${nearest || '.'} All operations are at /docs.`)
    }),
  )
  return app
}
