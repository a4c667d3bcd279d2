import type { FaultKind, FaultRequest } from '../network/faults.ts'
import { SimulatorError } from '../simulator-error.ts'
import type { Actions } from './actions.ts'
import { type Body, optionalFlag, optionalNumber, optionalText, text } from './read-body.ts'

type Request = { actions: Actions; params: string[]; query: URLSearchParams; body: Body }
type Route = { method: string; path: RegExp; run: (request: Request) => unknown; ndjson?: true }

const routes: Route[] = [
  {
    method: 'POST',
    path: /^\/scan$/,
    run: ({ actions, body }) => actions.scan({ qr: text(body, 'qr'), number: digits(text(body, 'number')) }),
  },
  {
    method: 'POST',
    path: /^\/type-code$/,
    run: ({ actions, body }) =>
      actions.typeCode({ code: code(text(body, 'code')), number: digits(text(body, 'number')) }),
  },
  {
    method: 'POST',
    path: /^\/unlink$/,
    run: ({ actions, body }) => {
      const jid = optionalText(body, 'jid')
      return actions.unlink({ number: digits(text(body, 'number')), ...(jid && { jid }) })
    },
  },
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
    path: /^\/chats\/([^/]+)\/passkey\/refuse$/,
    run: ({ actions, params }) => actions.refusePasskeyCode(digits(params[0])),
  },
  { method: 'GET', path: /^\/phones$/, run: ({ actions }) => actions.phones() },
  {
    method: 'GET',
    path: /^\/chats\/([^/]+)\/messages$/,
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
    method: 'POST',
    path: /^\/chats\/([^/]+)\/send$/,
    run: ({ actions, params, body }) =>
      actions.send(digits(params[0]), { to: digits(text(body, 'to')), text: text(body, 'text') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/status$/,
    run: ({ actions, params, body }) => actions.status(digits(params[0]), { to: digits(text(body, 'to')) }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/reinstall$/,
    run: ({ actions, params }) => actions.reinstall(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/read$/,
    run: ({ actions, params, body }) =>
      actions.read(digits(params[0]), { wa_message_id: text(body, 'wa_message_id') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/history$/,
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
    run: ({ actions, params, body }) =>
      actions.receipt(digits(params[0]), {
        to: digits(text(body, 'to')),
        wa_message_id: text(body, 'wa_message_id'),
        type: text(body, 'type'),
      }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/time-lock$/,
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
    run: ({ actions, params, body }) =>
      actions.privacy(digits(params[0]), { first_messages: text(body, 'first_messages') }),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/salt$/,
    run: ({ actions, params }) => actions.renewSalt(digits(params[0])),
  },
  {
    method: 'POST',
    path: /^\/chats\/([^/]+)\/forget$/,
    run: ({ actions, params, body }) =>
      actions.forget(digits(params[0]), { from: digits(text(body, 'from')) }),
  },
  { method: 'POST', path: /^\/faults$/, run: ({ actions, body }) => actions.fault(readFault(body)) },
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

function readFault(body: Body): FaultRequest {
  const sender = optionalText(body, 'sender')
  const number = optionalText(body, 'number')
  const code = optionalText(body, 'code')
  const share = optionalNumber(body, 'share')
  const ms = optionalNumber(body, 'ms')
  const count = optionalNumber(body, 'count')
  const backoff = optionalNumber(body, 'backoff')
  const bytesPerSecond = optionalNumber(body, 'bytes_per_second')
  const expire = optionalNumber(body, 'expire')
  const banCode = optionalText(body, 'ban_code')
  const violation = optionalText(body, 'violation_reason')
  const appealToken = optionalText(body, 'appeal_token')
  const size = optionalNumber(body, 'size')
  return {
    kind: text(body, 'kind') as FaultKind,
    ...(sender !== undefined && { sender: digits(sender) }),
    ...(number !== undefined && { number: digits(number) }),
    ...(code !== undefined && { code }),
    ...(share !== undefined && { share }),
    ...(ms !== undefined && { ms }),
    ...(count !== undefined && { count }),
    ...(backoff !== undefined && { backoff }),
    ...(bytesPerSecond !== undefined && { bytes_per_second: bytesPerSecond }),
    ...(expire !== undefined && { expire }),
    ...(banCode !== undefined && { ban_code: banCode }),
    ...(violation !== undefined && { violation_reason: violation }),
    ...(appealToken !== undefined && { appeal_token: appealToken }),
    ...(size !== undefined && { size }),
  }
}

/** Callers may write a number like people do: +49 151 … */
const digits = (number: string | undefined): string => (number ?? '').replace(/[+\s()-]/g, '')

/** People read a code in two halves, and type small letters. */
const code = (typed: string): string => typed.replace(/[\s-]/g, '').toUpperCase()
