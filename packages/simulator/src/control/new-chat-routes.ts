import { digits, optionalFlag, optionalNumber, optionalText, text } from './read-body.ts'
import type { Route } from './route.ts'

export const newChatRoutes: Route[] = [
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/time-lock$/,
    fields: ['seconds', 'type', 'notify'],
    run: ({ actions, params, body }) => {
      const type = optionalText(body, 'type')
      const notify = optionalFlag(body, 'notify')
      return actions.timeLock(digits(params[0]), {
        seconds: optionalNumber(body, 'seconds') ?? 0,
        ...(type !== undefined && { type }),
        ...(notify !== undefined && { notify }),
      })
    },
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/new-chat-cap$/,
    fields: ['total', 'seconds', 'notify'],
    run: ({ actions, params, body }) => {
      const notify = optionalFlag(body, 'notify')
      return actions.newChatCap(digits(params[0]), {
        total: optionalNumber(body, 'total') ?? 0,
        seconds: optionalNumber(body, 'seconds') ?? 0,
        ...(notify !== undefined && { notify }),
      })
    },
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/token$/,
    fields: ['to', 'age_seconds', 'notify'],
    run: ({ actions, params, body }) => {
      const age = optionalNumber(body, 'age_seconds')
      const to = digits(text(body, 'to'))
      const notify = optionalFlag(body, 'notify')
      return actions.giveToken(digits(params[0]), {
        to,
        ...(age !== undefined && { age_seconds: age }),
        ...(notify !== undefined && { notify }),
      })
    },
  },
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/tokens$/,
    run: ({ actions, params }) => actions.tokens(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/privacy$/,
    fields: ['first_messages'],
    run: ({ actions, params, body }) =>
      actions.privacy(digits(params[0]), { first_messages: text(body, 'first_messages') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/salt$/,
    fields: [],
    run: ({ actions, params }) => actions.renewSalt(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/forget$/,
    fields: ['from'],
    run: ({ actions, params, body }) =>
      actions.forget(digits(params[0]), { from: digits(text(body, 'from')) }),
  },
]
