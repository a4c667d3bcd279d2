import type { HttpBindings } from '@hono/node-server'
import { AppError } from '@wagate/shared/app-error'
import { Hono } from 'hono'
import type { ApiContext } from './context.ts'
import { checkReadiness } from './health.ts'
import { findClientAddress } from './http/client-address.ts'
import { makeExchange } from './http/exchange.ts'
import { allowMethods } from './http/methods.ts'
import { answerOperation } from './operation.ts'
import { operations } from './operations.ts'

export function makeApp(context: ApiContext): Hono<{ Bindings: HttpBindings }> {
  const exchange = makeExchange(context.log)
  const app = new Hono<{ Bindings: HttpBindings }>()

  for (const operation of operations) {
    for (const path of [`/${operation.name}`, `/api/${operation.name}`]) {
      for (const spelling of [path, `${path}/`]) {
        app.all(spelling, (c) => {
          const clientAddress = findClientAddress(
            c.env.incoming.socket.remoteAddress,
            c.req.header('x-forwarded-for'),
            context.config.TRUST_PROXY,
          )
          return exchange(c.req.raw, (request) => answerOperation(context, operation, request, clientAddress))
        })
      }
    }
  }

  app.all('/health/live', (c) =>
    exchange(c.req.raw, async (request) => {
      if (allowMethods(request, ['GET', 'HEAD']) === 'options') return { status: 204 }
      return { status: 200, body: { ok: true } }
    }),
  )
  app.all('/health/ready', (c) =>
    exchange(c.req.raw, async (request) => {
      if (allowMethods(request, ['GET', 'HEAD']) === 'options') return { status: 204 }
      return checkReadiness(context)
    }),
  )
  app.notFound((c) =>
    exchange(c.req.raw, async () => {
      throw new AppError('not_found', 'There is no such path.')
    }),
  )
  return app
}
