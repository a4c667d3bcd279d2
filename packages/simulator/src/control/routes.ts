import type { Written } from '../handset/compose.ts'
import { faultFields } from '../network/faults.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { accountRoutes } from './account-routes.ts'
import { bulkRoutes } from './bulk-routes.ts'
import { newChatRoutes } from './new-chat-routes.ts'
import { passkeyRoutes } from './passkey-routes.ts'
import { digits, optionalFlag, optionalNumber, optionalText, text } from './read-body.ts'
import { readFault } from './read-fault.ts'
import { readWritten, writtenFields } from './read-written.ts'
import type { Route } from './route.ts'
import { webVersionRoutes } from './web-version-routes.ts'

const routes: Route[] = [
  {
    method: 'POST',
    path: /^\/scan$/,
    fields: ['qr', 'number'],
    run: ({ actions, body }) => actions.scan({ qr: text(body, 'qr'), number: digits(text(body, 'number')) }),
  },
  {
    method: 'POST',
    path: /^\/type-code$/,
    fields: ['number', 'code'],
    run: ({ actions, body }) =>
      actions.typeCode({ code: code(text(body, 'code')), number: digits(text(body, 'number')) }),
  },
  { method: 'POST', path: /^\/retire-secrets$/, fields: [], run: ({ actions }) => actions.retireSecrets() },
  {
    method: 'POST',
    path: /^\/unlink$/,
    fields: ['number', 'jid'],
    run: ({ actions, body }) => {
      const jid = optionalText(body, 'jid')
      return actions.unlink({ number: digits(text(body, 'number')), ...(jid && { jid }) })
    },
  },
  { method: 'GET', path: /^\/phones$/, run: ({ actions }) => actions.phones() },
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/messages$/,
    query: ['from'],
    run: ({ actions, params, query }) => {
      const from = query.get('from')
      return actions.messages(digits(params[0]), from ? { from: digits(from) } : {})
    },
  },
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/timeline$/,
    run: ({ actions, params }) => actions.timeline(digits(params[0])),
  },
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/media$/,
    query: ['wa_message_id', 'from'],
    file: true,
    run: ({ actions, params, query }) => {
      const from = query.get('from')
      return actions.media(digits(params[0]), {
        wa_message_id: query.get('wa_message_id') ?? '',
        ...(from && { from: digits(from) }),
      })
    },
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/send$/,
    fields: ['to', ...writtenFields],
    run: ({ actions, params, body }) =>
      actions.send(digits(params[0]), { to: digits(text(body, 'to')), ...(readWritten(body) as Written) }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/status$/,
    fields: ['to'],
    run: ({ actions, params, body }) => actions.status(digits(params[0]), { to: digits(text(body, 'to')) }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/reinstall$/,
    fields: [],
    run: ({ actions, params }) => actions.reinstall(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/read$/,
    fields: ['wa_message_id'],
    run: ({ actions, params, body }) =>
      actions.read(digits(params[0]), { wa_message_id: text(body, 'wa_message_id') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/history$/,
    fields: ['from', 'direct_path', 'inline_zeros', 'as_file'],
    run: ({ actions, params, body }) => {
      const directPath = optionalText(body, 'direct_path')
      const inlineZeros = optionalNumber(body, 'inline_zeros')
      return actions.history(digits(params[0]), {
        fromCompanion: optionalText(body, 'from') === 'companion',
        ...(directPath !== undefined && { directPath }),
        ...(inlineZeros !== undefined && { inlineZeros }),
        asFile: optionalFlag(body, 'as_file') ?? false,
      })
    },
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/receipt$/,
    fields: ['to', 'wa_message_id', 'type', 'device', 'as'],
    run: ({ actions, params, body }) =>
      actions.receipt(digits(params[0]), {
        to: digits(text(body, 'to')),
        wa_message_id: text(body, 'wa_message_id'),
        type: text(body, 'type'),
        device: optionalNumber(body, 'device') ?? 0,
        as: optionalText(body, 'as') ?? 'pn',
      }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/notice$/,
    fields: ['kind', 'about'],
    run: ({ actions, params, body }) =>
      actions.notice(digits(params[0]), { kind: text(body, 'kind'), about: digits(text(body, 'about')) }),
  },
  ...accountRoutes,
  ...bulkRoutes,
  ...passkeyRoutes,
  ...newChatRoutes,
  ...webVersionRoutes,
  {
    method: 'POST',
    path: /^\/faults$/,
    fields: faultFields,
    run: ({ actions, body }) => actions.fault(readFault(body)),
  },
  { method: 'GET', path: /^\/faults$/, run: ({ actions }) => actions.faults() },
  {
    method: 'DELETE',
    path: /^\/faults$/,
    run: ({ actions }) => {
      actions.clearFaults()
      return { ok: true }
    },
  },
  {
    method: 'DELETE',
    path: /^\/faults\/([^/]+)$/,
    run: ({ actions, params }) => {
      actions.clearFault(params[0] ?? '')
      return { ok: true }
    },
  },
  { method: 'GET', path: /^\/log$/, run: ({ actions }) => actions.log(), ndjson: true },
  { method: 'GET', path: /^\/logins$/, run: ({ actions }) => actions.logins(), ndjson: true },
  { method: 'GET', path: /^\/lookups$/, run: ({ actions }) => actions.lookups(), ndjson: true },
  { method: 'GET', path: /^\/unknown$/, run: ({ actions }) => actions.unknown(), ndjson: true },
  { method: 'GET', path: /^\/mails$/, run: ({ actions }) => actions.mails() },
  { method: 'GET', path: /^\/stats$/, run: ({ actions }) => actions.stats() },
]

export function findRoute(method: string, path: string): (Route & { params: string[] }) | undefined {
  for (const route of routes) {
    if (route.method !== method) continue
    const match = route.path.exec(path)
    if (match) return { ...route, params: match.slice(1).map(decode) }
  }
  return undefined
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new SimulatorError('The path is not valid. Encode it with percent signs.')
  }
}

/** People read a code in two halves, and type small letters. */
const code = (typed: string): string => typed.replace(/[\s-]/g, '').toUpperCase()
