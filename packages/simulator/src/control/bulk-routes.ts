import { refuseUnknownFields } from '../network/known-fields.ts'
import { digits, objects, text } from './read-body.ts'
import type { Route } from './route.ts'

export const bulkRoutes: Route[] = [
  {
    method: 'POST',
    path: /^\/send-many$/,
    fields: ['messages'],
    run: ({ actions, body }) =>
      actions.sendMany({
        messages: objects(body, 'messages').map((message) => {
          refuseUnknownFields(message, ['from', 'to', 'text'], 'Each of messages')
          return {
            from: digits(text(message, 'from')),
            to: digits(text(message, 'to')),
            text: text(message, 'text'),
          }
        }),
      }),
  },
]
