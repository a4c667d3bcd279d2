import { type Body, digits, optionalFlag, optionalNumber, optionalText, text } from './read-body.ts'
import type { Route } from './route.ts'

export const accountRoutes: Route[] = [
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/typing$/,
    run: ({ actions, params }) => actions.typing(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/identity$/,
    fields: ['hidden', 'username'],
    run: ({ actions, params, body }) =>
      actions.identity(digits(params[0]), {
        hidden: optionalFlag(body, 'hidden'),
        username: body.username === null ? null : optionalText(body, 'username'),
      }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/past$/,
    fields: ['chats', 'messages', 'seed'],
    run: ({ actions, params, body }) => {
      const seed = optionalNumber(body, 'seed')
      return actions.past(digits(params[0]), {
        chats: optionalNumber(body, 'chats') ?? 0,
        messages: optionalNumber(body, 'messages') ?? 0,
        ...(seed !== undefined && { seed }),
      })
    },
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/setting$/,
    fields: ['kind', 'about', 'value'],
    run: ({ actions, params, body }) =>
      actions.setting(digits(params[0]), {
        kind: text(body, 'kind'),
        about: digits(text(body, 'about')),
        value: readValue(body),
      }),
  },
]

function readValue(body: Body): string | boolean | null {
  if (typeof body.value === 'boolean') return body.value
  return optionalText(body, 'value') ?? null
}
