// What the worker replaces, wraps or reads in the code of Baileys and of its libsignal, which types do not show.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { SyntaxKind } from 'typescript/unstable/ast'

/**
 * @typedef {import('typescript/unstable/ast').Node} Node
 * @typedef {{ baileys: string, libsignal: string }} Folders
 */

/**
 * By what of ours (in `apps/worker/src`, or the patch), in which file, which declarations. Each correction that
 * docs/whatsapp.md lists has at least one.
 *
 * @type {[by: string, file: string, ...names: string[]][]}
 */
export const corrected = [
  ['patches', 'baileys/lib/Socket/chats.js', 'resyncAppState'],
  ['patches', 'baileys/lib/Utils/generics.js', 'promiseTimeout'],
  ['patches', 'baileys/lib/Utils/message-retry-manager.js', 'MessageRetryManager'],
  ['patches', 'baileys/lib/WABinary/encode.js', 'pushBytes'],
  ['preload/bounded-inflate.ts', 'baileys/lib/Utils/history.js', 'downloadHistory'],
  ['preload/bounded-inflate.ts', 'baileys/lib/WABinary/decode.js', 'decompressingIfRequired'],
  ['preload/console-filter.ts', 'libsignal/src/session_record.js', 'closeSession', 'openSession'],
  ['preload/curve-keys.ts', 'libsignal/src/curve.js', 'calculateAgreement', 'generateKeyPair'],
  ['preload/curve-signatures.ts', 'libsignal/src/curve.js', 'verifySignature'],
  ['preload/intact-sessions.ts', 'libsignal/src/session_cipher.js', 'doDecryptWhisperMessage'],
  ['session/credentials/app-state-salt.ts', 'baileys/lib/Utils/chat-utils.js', 'extractSyncdPatches'],
  [
    'session/credentials/bounded-session.ts',
    'libsignal/src/session_cipher.js',
    'fillMessageKeys',
    'maybeStepRatchet',
  ],
  ['session/credentials/bounded-session.ts', 'libsignal/src/session_record.js', 'SessionEntry'],
  [
    'session/contacts/cold-tokens.ts',
    'baileys/lib/Utils/tc-token-utils.js',
    'buildTcTokenFromJid',
    'resolveTcTokenJid',
  ],
  [
    'session/sending/fan-out.ts',
    'baileys/lib/Socket/messages-send.js',
    'createParticipantNodes',
    'relayMessage',
  ],
  [
    'session/contacts/history.ts',
    'baileys/lib/Utils/history.js',
    'downloadAndProcessHistorySyncNotification',
  ],
  ['session/receiving/inbound.ts', 'baileys/lib/Socket/messages-recv.js', 'handleMessage', 'sendMessageAck'],
  ['session/receiving/inbound.ts', 'baileys/lib/Utils/decode-wa-message.js', 'decryptMessageNode'],
  [
    'session/network/intercept.ts',
    'baileys/lib/Socket/messages-recv.js',
    'processNode',
    'processNodeWithBuffer',
  ],
  ['session/network/intercept.ts', 'baileys/lib/Socket/socket.js', 'onMessageReceived'],
  ['session/connection/keep-alive.ts', 'baileys/lib/Socket/socket.js', 'startKeepAliveRequest'],
  ['session/contacts/learn-addresses.ts', 'baileys/lib/Signal/lid-mapping.js', 'storeLIDPNMappings'],
  ['session/credentials/signal-section.ts', 'baileys/lib/Signal/lid-mapping.js', 'LIDMappingStore'],
  [
    'session/linking/before-login.ts',
    'baileys/lib/Socket/messages-recv.js',
    'handleNotification',
    'processNotification',
  ],
  [
    'session/network/network.ts',
    'baileys/lib/Defaults/index.js',
    'DEFAULT_CONNECTION_CONFIG',
    'WA_CERT_DETAILS',
    'version',
  ],
  ['session/network/network.ts', 'baileys/lib/Socket/Client/websocket.js', 'WebSocketClient'],
  [
    'session/receiving/offline-queue.ts',
    'baileys/lib/Utils/offline-node-processor.js',
    'makeOfflineNodeProcessor',
  ],
  ['session/contacts/on-history.ts', 'baileys/lib/Utils/event-buffer.js', 'makeEventBuffer'],
  ['session/contacts/on-history.ts', 'baileys/lib/Utils/history.js', 'processHistoryMessage'],
  ['session/sending/outcomes.ts', 'baileys/lib/Socket/messages-recv.js', 'handleBadAck'],
  ['session/linking/pairing-code.ts', 'baileys/lib/Socket/socket.js', 'requestPairingCode'],
  ['session/linking/passkey.ts', 'baileys/lib/Utils/validate-connection.js', 'configureSuccessfulPairing'],
  [
    'session/credentials/privacy-tokens.ts',
    'baileys/lib/Socket/messages-recv.js',
    'handlePrivacyTokenNotification',
  ],
  ['session/linking/qr-codes.ts', 'baileys/lib/Socket/socket.js', 'genPairQR'],
  ['session/contacts/query-limits.ts', 'baileys/lib/WABinary/generic-utils.js', 'assertNodeErrorFree'],
  ['session/receiving/receipts.ts', 'baileys/lib/Socket/messages-recv.js', 'handleReceipt'],
  ['session/credentials/session-record.ts', 'libsignal/src/session_record.js', 'SessionRecord'],
  [
    'session/credentials/signal-section.ts',
    'baileys/lib/Signal/libsignal.js',
    'makeLibSignalRepository',
    'signalStorage',
  ],
  ['session/connection/socket-end.ts', 'baileys/lib/Socket/socket.js', 'end'],
  ['session/connection/socket-end.ts', 'baileys/lib/Utils/generics.js', 'getErrorCodeFromStreamError'],
  ['session/credentials/privacy-tokens.ts', 'baileys/lib/Utils/tc-token-utils.js', 'TC_TOKEN_INDEX_KEY'],
  ['session/credentials/signal-steps.ts', 'baileys/lib/Utils/auth-utils.js', 'addTransactionCapability'],
  ['session/sending/unawaited-sends.ts', 'baileys/lib/Socket/socket.js', 'sendRawMessage', 'waitForMessage'],
  ['session/contacts/user-devices.ts', 'baileys/lib/Socket/messages-send.js', 'getUSyncDevices'],
  ['session/network/whatsapp-fetch.ts', 'baileys/lib/Utils/messages-media.js', 'getHttpStream'],
]

/** Fields that the worker reads itself because Baileys does not know them: `saltField` and `saltPath`. */
const protobufFields = /** @type {const} */ ([
  ['HistorySync', 19],
  ['SyncActionData', 2],
  ['SyncActionValue', 80],
])

const shownMax = 160

/**
 * The paths of the files that exist in this version.
 *
 * @param {Folders} folders
 * @returns {Map<string, string>}
 */
export function listCode({ baileys, libsignal }) {
  const sockets = readdirSync(join(baileys, 'lib/Socket')).filter((name) => name.endsWith('.js'))
  const files = [...sockets.map((name) => `baileys/lib/Socket/${name}`), ...corrected.map(([, file]) => file)]
  const paths = files.map(
    (file) =>
      /** @type {const} */ ([
        file,
        file.replace(/^baileys/, () => baileys).replace(/^libsignal/, () => libsignal),
      ]),
  )
  return new Map(paths.filter(([, path]) => existsSync(path)))
}

/**
 * @param {Map<string, Node | undefined>} files the code of `listCode`, without our patch
 * @param {Set<string>} events to which the worker listens
 * @param {string} protocol the text of WAProto.proto
 * @returns {Map<string, string>}
 */
export function readCode(files, events, protocol) {
  const found = new Map()
  for (const [, file, ...names] of corrected) {
    for (const name of names) {
      const node = findDeclaration(files.get(file), name)
      if (node) found.set(`code ${file} ${name}`, shown(node.getText()))
    }
  }
  const listeners = [...files].flatMap(([file, node]) => (node ? listenersIn(file, node) : []))
  for (const event of events) {
    const own = listeners
      .filter((listener) => listener.event === event)
      .map(({ file, text }) => `${file}: ${text}`)
    found.set(`listener ${event}`, own.length > 0 ? own.sort().join(', ') : 'none')
  }
  for (const [message, number] of protobufFields) {
    found.set(`protobuf ${message} ${number}`, findField(protocol, message, number) ?? 'none')
  }
  return found
}

/** Short texts are shown. Of others, whether they changed. @param {string} text */
function shown(text) {
  const line = text.replace(/\s+/g, ' ')
  if (line.length <= shownMax) return line
  return `sha256 ${createHash('sha256').update(line).digest('hex').slice(0, 16)} of ${line.length} characters`
}

/** The longest one of that name: `exports.name = name` is another. @param {Node | undefined} file @param {string} name */
function findDeclaration(file, name) {
  /** @type {Node | undefined} */
  let longest
  /** @param {Node} node */
  const visit = (node) => {
    if (declaredName(node) === name && node.end - node.pos > (longest ? longest.end - longest.pos : 0))
      longest = node
    node.forEachChild(visit)
  }
  if (file) visit(file)
  return longest
}

/** @param {Node} node @returns {string | undefined} */
function declaredName(node) {
  if (node.kind === SyntaxKind.BinaryExpression) {
    const { left } = /** @type {import('typescript/unstable/ast').BinaryExpression} */ (node)
    return left.kind === SyntaxKind.PropertyAccessExpression ? nameText(left) : undefined
  }
  const declares = [
    SyntaxKind.ClassDeclaration,
    SyntaxKind.FunctionDeclaration,
    SyntaxKind.MethodDeclaration,
    SyntaxKind.VariableDeclaration,
  ]
  return declares.includes(node.kind) ? nameText(node) : undefined
}

/** @param {Node} node */
const nameText = (node) =>
  /** @type {{ name?: { text?: string } }} */ (/** @type {unknown} */ (node)).name?.text

/** @param {string} file @param {Node} node */
function listenersIn(file, node) {
  /** @type {{ file: string, event: string, text: string }[]} */
  const listeners = []
  /** @param {Node} part */
  const visit = (part) => {
    if (part.kind === SyntaxKind.CallExpression) {
      const { expression, arguments: given } =
        /** @type {import('typescript/unstable/ast').CallExpression} */ (part)
      const event = /** @type {{ text?: string } | undefined} */ (given[0])?.text
      if (nameText(expression) === 'on' && event) listeners.push({ file, event, text: shown(part.getText()) })
    }
    part.forEachChild(visit)
  }
  visit(node)
  return listeners
}

/** The declaration of a field. @param {string} protocol @param {string} message @param {number} number */
function findField(protocol, message, number) {
  const body = protocol.match(new RegExp(`^message ${message} \\{\\n(.*?)^\\}`, 'ms'))?.[1] ?? ''
  return body.match(new RegExp(`^ {4}\\S.* = ${number};`, 'm'))?.[0].trim()
}

/**
 * The hunks that change something outside of the declarations that `corrected` names.
 *
 * @param {Map<string, Node | undefined>} files without the patch
 * @param {{ file: string, old: string, at: number }[]} hunks
 */
export function listUnnamedHunks(files, hunks) {
  return hunks.filter(({ file, old, at }) => {
    const source = files.get(file)
    const place = (source?.getText().indexOf(old) ?? -1) + at + (source?.getStart() ?? 0)
    return !corrected
      .filter(([by, patched]) => by === 'patches' && patched === file)
      .flatMap(([, , ...names]) => names.flatMap((name) => findDeclaration(source, name) ?? []))
      .some((node) => node.pos <= place && place < node.end)
  })
}
