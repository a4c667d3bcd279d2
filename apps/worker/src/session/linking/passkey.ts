import { createHmac, hkdfSync } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type AuthenticationCreds,
  type BinaryNode,
  getBinaryNodeChildBuffer,
  getBinaryNodeChildString,
  S_WHATSAPP_NET,
  type WASocket,
} from 'baileys'
import type { LinkingSecret } from '../credentials/linking-secret.ts'
import { isFromWhatsApp, isLinked } from './before-login.ts'
import { type Agreement, makePasskeyExchange } from './passkey-exchange.ts'

/**
 * `isProven`: the phone was given a proof with which its person need not compare the codes. Whether it honors that shows
 * only when it links the device. `refused`: with WhatsApp's error code, or `timeout`.
 */
type PasskeyAnswer = { kind: 'code'; code: string; isProven: boolean } | { kind: 'refused'; error: string }

/** The part of a link in which WhatsApp asks for the passkey of the account. */
export type PasskeyLink = {
  /** Sends the assertion of the person. Resolves to the code that the phone shows as well, if it shows one. */
  answer(assertion: Assertion): Promise<PasskeyAnswer>
  /**
   * Asks the phone for the link: its person has found the same code, or need not compare it. The link follows as after a
   * scan.
   */
  confirm(): Promise<{ kind: 'sent' } | { kind: 'refused'; error: string }>
  /** Whether the phone has not linked the device after this time, although it still could. */
  isPendingAfter(ms: number): Promise<boolean>
}

/** What a browser returns, as JSON: bytes are base64url. */
type Assertion = { id: string; rawId: string }

/** Of WebAuthn, as JSON. */
export type RequestOptions = Record<string, unknown>

/** The secrets of a device that is being linked. */
export type DeviceKeys = Pick<
  AuthenticationCreds,
  'account' | 'noiseKey' | 'signedIdentityKey' | 'advSecretKey'
>

const relyingParty = 'whatsapp.com'
/** For the phone to answer after the assertion was accepted. */
const phoneMsMax = 45_000

/**
 * Calls `onAsked` with the WebAuthn request options (JSON) when WhatsApp asks a device that is being linked for a passkey.
 * From then on the link is proven with another secret than that of the QR code, which whoever saw it may know.
 */
export function watchPasskey(
  sock: Pick<WASocket, 'ws' | 'query'>,
  creds: DeviceKeys,
  secret: Pick<LinkingSecret, 'replace' | 'hold'>,
  hooks: { onAsked(options: RequestOptions): void; onError(error: unknown): void },
): PasskeyLink {
  const { ws, query } = sock
  const handoff = makePasskeyHandoff()
  let agreement: Agreement | undefined

  const request = (type: 'get' | 'set', tag: string, content?: BinaryNode['content']) =>
    query({
      tag: 'iq',
      attrs: { to: S_WHATSAPP_NET, type, xmlns: 'md' },
      content: [{ tag, attrs: {}, ...(content !== undefined && { content }) }],
    })

  async function readOptions(stanza: BinaryNode): Promise<RequestOptions> {
    const options = parseOptions(stanza) ?? parseOptions(await request('get', optionsTag))
    if (!options) throw new Error('WhatsApp asks for a passkey without saying which')
    return options
  }

  ws.on('CB:notification,type:passkey_prologue_request', async (stanza: BinaryNode) => {
    if (isLinked(creds) || !isFromWhatsApp(stanza)) return
    handoff.begin(creds.advSecretKey)
    secret.replace()
    agreement = undefined
    try {
      hooks.onAsked(await readOptions(stanza))
    } catch (error) {
      hooks.onError(error)
    }
  })

  return {
    async answer(assertion) {
      agreement = undefined
      const ref = getBinaryNodeChildString(await request('get', 'ref'), 'ref')
      if (!ref) return { kind: 'refused', error: 'timeout' }
      const exchange = makePasskeyExchange(ref)
      const giveUp = new AbortController()
      // It may come before the answer to the assertion.
      const identity = nextIdentity(sock, giveUp.signal)
      const proof = handoff.prove(exchange.prologue)
      const refusal = await refusalOf(
        request('set', 'passkey_prologue', [
          { tag: 'credential_id', attrs: {}, content: Buffer.from(assertion.rawId, 'base64url') },
          { tag: 'webauthn_assertion', attrs: {}, content: Buffer.from(JSON.stringify(assertion)) },
          { tag: 'prologue_payload', attrs: {}, content: exchange.prologue },
          ...(proof ? [{ tag: 'pairing_handoff_proof', attrs: {}, content: proof }] : []),
        ]),
      )
      if (refusal !== undefined) {
        giveUp.abort()
        return { kind: 'refused', error: refusal }
      }
      handoff.end()
      const given = await identity
      if (!given) return { kind: 'refused', error: 'timeout' }
      const agreed = exchange.agree(given)
      const nonceRefusal = await refusalOf(request('set', 'companion_nonce', exchange.nonce))
      if (nonceRefusal !== undefined) return { kind: 'refused', error: nonceRefusal }
      agreement = agreed
      return { kind: 'code', code: agreed.code, isProven: proof !== undefined }
    },
    async confirm() {
      if (!agreement) return { kind: 'refused', error: 'timeout' }
      // No QR code is shown any more, and the person at the phone may take a while to compare the codes.
      secret.hold(Number.POSITIVE_INFINITY)
      const refusal = await refusalOf(request('set', 'encrypted_pairing_request', agreement.seal(creds)))
      return refusal === undefined ? { kind: 'sent' } : { kind: 'refused', error: refusal }
    },
    async isPendingAfter(ms) {
      await delay(ms, undefined, { ref: false })
      return ws.isOpen && !isLinked(creds)
    },
  }
}

/** Of the phone, undefined when it does not come in time. */
function nextIdentity({ ws }: Pick<WASocket, 'ws'>, signal: AbortSignal): Promise<Uint8Array | undefined> {
  const event = 'CB:notification,type:crsc_continuation'
  return new Promise((resolve) => {
    const finish = (identity?: Uint8Array) => {
      clearTimeout(timer)
      ws.off(event, onStanza)
      ws.off('close', onClose)
      signal.removeEventListener('abort', onClose)
      resolve(identity)
    }
    const onStanza = (stanza: BinaryNode) => {
      if (!isFromWhatsApp(stanza)) return
      finish(getBinaryNodeChildBuffer(stanza, 'primary_ephemeral_identity'))
    }
    const onClose = () => finish()
    const timer = setTimeout(finish, phoneMsMax)
    ws.on(event, onStanza)
    ws.on('close', onClose)
    signal.addEventListener('abort', onClose)
  })
}

const optionsTag = 'passkey_request_options'

/** Undefined for anything but options for WhatsApp's own passkeys. */
function parseOptions(stanza: BinaryNode): RequestOptions | undefined {
  try {
    const options: unknown = JSON.parse(getBinaryNodeChildString(stanza, optionsTag) ?? '')
    return isOptions(options) ? options : undefined
  } catch {
    return undefined
  }
}

function isOptions(options: unknown): options is RequestOptions {
  if (typeof options !== 'object' || options === null) return false
  const { challenge, rpId } = options as Record<string, unknown>
  return typeof challenge === 'string' && rpId === relyingParty
}

/** The code with which WhatsApp refuses the request. Undefined when it accepts it. */
async function refusalOf(answer: Promise<unknown>): Promise<string | undefined> {
  try {
    await answer
    return undefined
  } catch (error) {
    const code = (error as { data?: unknown }).data
    if (typeof code === 'number' || typeof code === 'string') return String(code)
    throw error
  }
}

/** As long as a phone remembers what it has scanned. */
const memoryMs = 300_000
const keyBytes = 32

/**
 * Proves to the phone that this device has the secret that the phone knows from the QR code, or from the typed code. Its
 * person then need not compare codes.
 */
type PasskeyHandoff = {
  /** WhatsApp asks for the passkey, and the secret (base64) is about to be replaced. */
  begin(secret: string): void
  /** Undefined when there is nothing that the phone would remember. */
  prove(prologue: Uint8Array): Uint8Array | undefined
  /** WhatsApp has taken the proof to the phone. */
  end(): void
}

function makePasskeyHandoff(): PasskeyHandoff {
  let isBegun = false
  let key: Buffer | undefined
  let untilMs = 0

  return {
    begin(secret) {
      // When WhatsApp asks again, the secret is another one, which no phone has seen.
      if (isBegun) return
      isBegun = true
      const [bytes, salt] = [Buffer.from(secret, 'base64'), Buffer.alloc(0)]
      key = Buffer.from(hkdfSync('sha256', bytes, salt, 'shortcake-passkey-handoff-v1', keyBytes))
      untilMs = performance.now() + memoryMs
    },
    prove(prologue) {
      if (!key || performance.now() >= untilMs) return undefined
      return createHmac('sha256', key).update(prologue).digest()
    },
    end() {
      key = undefined
    },
  }
}
