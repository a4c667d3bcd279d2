import { digits, optionalFlag, text } from './read-body.ts'
import type { Route } from './route.ts'

export const passkeyRoutes: Route[] = [
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey$/,
    fields: ['required'],
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
    fields: ['challenge'],
    run: ({ actions, params, body }) =>
      actions.assertPasskey(digits(params[0]), { challenge: text(body, 'challenge') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey\/accept$/,
    fields: [],
    run: ({ actions, params }) => actions.acceptPasskeyCode(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/passkey\/refuse$/,
    fields: [],
    run: ({ actions, params }) => actions.refusePasskeyCode(digits(params[0])),
  },
]
