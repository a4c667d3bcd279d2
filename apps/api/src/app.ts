import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { ApiContext } from './context.ts'
import { answerFile, docsFiles } from './docs/docs-page.ts'
import { AppError } from './errors/app-error.ts'
import { live, ready } from './health.ts'
import { allowMethods } from './http/methods.ts'
import { type Answer, type Exchange, jsonType, makeExchange } from './http/request-context.ts'
import { makeDocument } from './openapi/document.ts'
import { answerOperation } from './operation.ts'
import { operations } from './operations.ts'

export function makeApp(context: ApiContext): Hono<{ Bindings: HttpBindings }> {
  const exchange = makeExchange(context)
  const app = new Hono<{ Bindings: HttpBindings }>()

  for (const operation of operations) {
    for (const path of [`/${operation.name}`, `/api/${operation.name}`]) {
      for (const spelling of [path, `${path}/`]) {
        app.all(spelling, (c) => exchange(c, (request) => answerOperation(context, operation, request)))
      }
    }
  }

  /** For everybody, and only to be read. */
  const publish = (path: string, answer: (request: Exchange) => Promise<Answer>) =>
    app.all(path, (c) =>
      exchange(c, async (request) =>
        allowMethods(request, ['GET', 'HEAD']) === 'options' ? { status: 204 } : answer(request),
      ),
    )
  for (const check of [live, ready]) publish(check.path, (request) => check.answer(context, request))
  // Made when it is first asked for: a start need not wait for it.
  let document: string | undefined
  publish('/openapi.json', async () => {
    document ??= JSON.stringify(makeDocument(operations, [live, ready]))
    return { status: 200, content: { type: jsonType, bytes: document } }
  })
  for (const [path, file] of Object.entries(docsFiles)) publish(path, (request) => answerFile(file, request))

  app.notFound((c) =>
    exchange(c, async () => {
      throw new AppError('not_found', 'There is no such path.')
    }),
  )
  return app
}
