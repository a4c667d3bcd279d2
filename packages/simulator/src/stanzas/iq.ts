import { randomBytes } from 'node:crypto'
import type { FaultKind } from '../network/faults.ts'
import { serverJid } from '../network/jid.ts'
import { noteUnknown } from '../network/note-unknown.ts'
import { children, type Node, type NodeContent, node, nowSeconds } from '../wire/node.ts'
import { answerAppState } from './app-state.ts'
import type { IqCall } from './iq-call.ts'
import { keyDigest } from './key-digest.ts'
import { answerKeyFetch, answerMissingKeyFetch, findKeyRefusal } from './key-fetch.ts'
import { rotateSignedPreKey, storePreKeys } from './key-upload.ts'
import { answerNewChatQuery } from './new-chats.ts'
import { answerTokens } from './privacy-token.ts'
import { findProfileRefusal, profileAnswers } from './profile-answers.ts'
import { removeDevice } from './remove-device.ts'
import { activate, makePassive } from './stream.ts'
import { answerUsync, errorOf, findLookupRefusal, noteLookup, usyncDelayMs } from './usync.ts'

type Answer = (call: IqCall, query: Node | undefined) => NodeContent | undefined

// By namespace, type and a child, as the client writes them.
const answers: Record<string, Answer> = {
  'encrypt get count': ({ device }) => [node('count', { value: device.preKeys.size.toString() })],
  'encrypt set registration': (call) => storePreKeys(call),
  'encrypt set rotate': (call, query) => rotateSignedPreKey(call, query),
  'encrypt get key': (call, query) => answerKeyFetch(call, query),
  'encrypt get key_fetch': (call, query) => answerMissingKeyFetch(call, query),
  'encrypt get digest': ({ device }) => [keyDigest(device)],
  'passive set active': () => undefined,
  'passive set passive': () => undefined,
  'w:p get ping': () => undefined,
  'w:p get ': () => undefined,
  'abt get props': () => [
    node('props', { protocol: '1', ab_key: 'sim', hash: 'sim', refresh: '86400' }, [
      // 10518 makes the client send the privacy token of a contact with its messages.
      node('prop', { config_code: '10518', config_value: '1' }),
    ]),
  ],
  'blocklist get ': () => [node('list')],
  'privacy get privacy': () => [
    node(
      'privacy',
      {},
      ['last', 'online', 'profile', 'status', 'readreceipts', 'groupadd', 'calladd'].map((name) =>
        node('category', { name, value: 'all' }),
      ),
    ),
  ],
  'privacy set tokens': answerTokens,
  'usync get usync': (call, query) => answerUsync(call, query),
  'w:m set media_conn': ({ network }) => [
    node(
      'media_conn',
      { auth: randomBytes(12).toString('hex'), ttl: '300', auth_ttl: '21600', max_buckets: '12' },
      [node('host', { hostname: network.mediaHost, maxContentLengthBytes: '2147483648' })],
    ),
  ],
  'w:sync:app:state set sync': answerAppState,
  'w:mex get query': (call, query) => answerNewChatQuery(call, query),
  'urn:xmpp:whatsapp:dirty set clean': () => undefined,
  'md set remove-companion-device': () => undefined,
  ...profileAnswers,
}

/** By faults. Look-ups have their own. */
const refusals: Record<string, (call: IqCall, query: Node | undefined) => Node | undefined> = {
  'encrypt get key': findKeyRefusal,
  'encrypt get key_fetch': findKeyRefusal,
  'md set remove-companion-device': findLogoutRefusal,
}

/** Faults by which requests stay without an answer. */
const silences: Record<string, FaultKind> = {
  'w:mex': 'new_chat_query_omit',
  'w:sync:app:state': 'app_state_omit',
}

// Sent after the response.
const sequels: Record<string, (call: IqCall) => void> = {
  'passive set active': ({ network, device }) => activate(network, device),
  'passive set passive': ({ device }) => makePassive(device),
  'md set remove-companion-device': ({ network, device }) => removeDevice(network, device),
}

function findLogoutRefusal({ network, device }: IqCall): Node | undefined {
  const fault = network.faults.strike('logout_refuse', device.phone.number)
  return fault && errorOf(fault)
}

const notImplemented = node('error', { code: '501', text: 'feature-not-implemented' })

/** Clients write the children in different orders: the first one that has an answer decides. */
function readQuery(stanza: Node): { kind: string; query: Node | undefined } {
  const { type = '', xmlns = '' } = stanza.attrs
  const kindOf = (query: Node | undefined) => `${xmlns} ${type} ${query?.tag ?? ''}`
  const queries = children(stanza)
  const query = queries.find((one) => answers[kindOf(one)]) ?? queries[0]
  return { kind: kindOf(query), query }
}

export function answerIq(call: IqCall): void {
  const { connection, network, device, stanza } = call
  const { id, type, xmlns } = stanza.attrs
  if (type === 'result' || type === 'error') return
  const { kind, query } = readQuery(stanza)
  const answer = answers[kind]
  const profileRefusal = findProfileRefusal(kind)
  noteLookup(call, query)
  if (!answer && !profileRefusal)
    noteUnknown(network, { kind: `iq ${kind}`, sender: device.phone.number, stanza })
  const refusal = answer
    ? (refusals[kind]?.(call, query) ?? findLookupRefusal(call, query))
    : (profileRefusal ?? notImplemented)
  if (!answer || refusal) {
    connection.send(node('iq', { from: serverJid, type: 'error', id }, refusal ? [refusal] : []))
    return
  }
  const silence = silences[xmlns ?? '']
  if (silence && network.faults.strike(silence, device.phone.number)) return
  const send = () => {
    connection.send(node('iq', { from: serverJid, type: 'result', id, t: nowSeconds() }, answer(call, query)))
    sequels[kind]?.(call)
  }
  const delayMs = usyncDelayMs(call, query)
  if (delayMs > 0) setTimeout(send, delayMs).unref()
  else send()
}
