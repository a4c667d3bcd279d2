import { digits, optionalFlag, text } from './read-body.ts'
import type { Route } from './route.ts'

export const passkeyRoutes: Route[] = [
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey$/,
    run: ({ actions, params, body }) =>
      actions.requirePasskey(digits(params[0]), { required: optionalFlag(body, 'required') ?? true }),
  },
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/passkey$/,
    run: ({ actions, params }) => actions.passkey(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey\/assert$/,
    run: ({ actions, params, body }) =>
      actions.assertPasskey(digits(params[0]), { challenge: text(body, 'challenge') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey\/accept$/,
    run: ({ actions, params }) => actions.acceptPasskeyCode(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey\/refuse$/,
    run: ({ actions, params }) => actions.refusePasskeyCode(digits(params[0])),
  },
]
