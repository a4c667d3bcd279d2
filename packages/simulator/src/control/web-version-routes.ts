import { optionalNumber, optionalText } from './read-body.ts'
import type { Route } from './route.ts'

export const webVersionRoutes: Route[] = [
  { method: 'GET', path: /^\/web-version$/, run: ({ actions }) => actions.webVersion() },
  {
    method: 'POST',
    path: /^\/web-version$/,
    fields: ['revision', 'oldest_allowed', 'refused_by', 'page'],
    run: ({ actions, body }) => {
      const revision = optionalNumber(body, 'revision')
      const oldestAllowed = optionalNumber(body, 'oldest_allowed')
      const refusedBy = optionalText(body, 'refused_by')
      const page = optionalText(body, 'page')
      return actions.webVersion({
        ...(revision !== undefined && { revision }),
        ...(oldestAllowed !== undefined && { oldest_allowed: oldestAllowed }),
        ...(refusedBy !== undefined && { refused_by: refusedBy }),
        ...(page !== undefined && { page }),
      })
    },
  },
]
