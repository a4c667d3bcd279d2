import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Curve, proto } from 'baileys'
import { findFlaw, relyingParty } from '../handset/authenticator.ts'
import { codeOf, handoffKey, isHandoffProof, openRequest, requestKey } from '../handset/passkey-cipher.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Pairing, PasskeyStep } from '../network/pairing.ts'
import { passkeyOf } from '../network/passkey.ts'
import type { Device, KeyPair, Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { bytes, child, type Node, node } from '../wire/node.ts'
import { notifyPairing } from './notify-pairing.ts'
import { proveLink, retireAfterScan } from './retire-secret.ts'

const timeoutMs = 600_000
/** A phone honors what it has scanned for five minutes. */
const handoffMs = 300_000
/** A phone is never as fast as the server. */
const phoneMs = 20

/**
 * WhatsApp asks the companion for an assertion before the phone links it. Resolves when the companion is linked. `secret`
 * (base64) is what the phone has scanned, or has agreed on with a typed code.
 */
export function askForPasskey(pairing: Pairing, phone: Phone, secret: string): Promise<Device> {
  const linking = new Promise<Device>((linked, failed) => {
    pairing.passkey = {
      phone,
      challenge: randomBytes(32).toString('base64url'),
      ref: randomBytes(16).toString('base64url'),
      handoff: {
        key: handoffKey(Buffer.from(secret, 'base64')),
        untilMs: performance.now() + handoffMs,
      },
      keyPair: Curve.generateKeyPair() as KeyPair,
      nonce: randomBytes(32),
      commitment: undefined,
      request: undefined,
      proof: 'none',
      isRevealed: false,
      code: undefined,
      accept: undefined,
      linked,
      failed,
    }
  })
  notify(pairing, 'passkey_prologue_request', 'passkey_request_options', optionsOf(pairing))
  retireAfterScan(pairing)
  return linking
}

/** Reads the requests of a client that links with a passkey. False for all others. */
export function readPasskeyRequest(network: Network, pairing: Pairing, { attrs, content }: Node): boolean {
  const request = Array.isArray(content) ? content[0] : undefined
  const answer = (children?: Node[]) =>
    pairing.connection.send(node('iq', { from: serverJid, type: 'result', id: attrs.id }, children))
  const refuse = (code: string, text: string) =>
    pairing.connection.send(
      node('iq', { from: serverJid, type: 'error', id: attrs.id }, [node('error', { code, text })]),
    )
  const reader = request && readers[request.tag]
  if (!request || !reader) return false
  const step = pairing.passkey
  if (!step) refuse('400', 'no passkey was asked for')
  else reader({ network, pairing, step, request, answer, refuse })
  return true
}

type Reading = {
  network: Network
  pairing: Pairing
  step: PasskeyStep
  request: Node
  answer: (children?: Node[]) => void
  refuse: (code: string, text: string) => void
}

const readers: Record<string, (reading: Reading) => void> = {
  passkey_request_options: ({ pairing, answer }) =>
    answer([node('passkey_request_options', {}, optionsOf(pairing))]),
  ref: ({ step, answer }) => answer([node('ref', {}, Buffer.from(step.ref))]),
  passkey_prologue: readPrologue,
  companion_nonce: readNonce,
  encrypted_pairing_request: readPairingRequest,
}

function readPrologue({ network, pairing, step, request, answer, refuse }: Reading): void {
  const part = (tag: string) => bytes(child(request, tag)) ?? Buffer.alloc(0)
  const given = { credentialId: part('credential_id'), assertion: part('webauthn_assertion') }
  const payload = proto.ProloguePayload.decode(part('prologue_payload'))
  const proof = bytes(child(request, 'pairing_handoff_proof'))
  const identity = Buffer.from(payload.companionEphemeralIdentity ?? [])
  const { publicKey, deviceType, ref } = proto.CompanionEphemeralIdentity.decode(identity)
  const hash = Buffer.from(payload.commitment?.hash ?? [])
  const refused = network.faults.strike('passkey_error', step.phone.number)
  const flaw = refused ? 'refused' : findFlaw(passkeyOf(step.phone.identity), step.challenge, given)
  if (flaw || !publicKey || ref !== step.ref || hash.length !== 32) {
    refuse(refused?.code ?? '403', flaw ?? 'bad prologue')
    return
  }
  // A real phone would ask its person to compare the codes, of which the companion may show none: a client has to know.
  if (proof && !isHandoffProof(step.handoff.key, part('prologue_payload'), proof)) {
    refuse('403', 'the handoff proof was not made with the secret that the phone has scanned')
    return
  }
  step.proof = proof ? weighProof(network, step) : 'none'
  step.commitment = { identity, hash }
  step.isRevealed = false
  step.code = undefined
  step.request = { key: Buffer.from(publicKey), deviceType: deviceType ?? 0, ref }
  answer()
  if (network.faults.strike('passkey_silence', step.phone.number)) return
  void continueLater(pairing, step)
}

function weighProof(network: Network, { phone, handoff }: PasskeyStep): 'honored' | 'ignored' {
  const isIgnored = network.faults.strike('passkey_compare', phone.number) !== undefined
  return isIgnored || performance.now() > handoff.untilMs ? 'ignored' : 'honored'
}

async function continueLater(pairing: Pairing, step: PasskeyStep): Promise<void> {
  const { commitment } = step
  await delay(phoneMs, undefined, { ref: false })
  if (pairing.passkey !== step || step.commitment !== commitment) return
  const primary = proto.PrimaryEphemeralIdentity.encode({
    publicKey: step.keyPair.public,
    nonce: step.nonce,
  }).finish()
  notify(pairing, 'crsc_continuation', 'primary_ephemeral_identity', Buffer.from(primary))
}

/** The companion reveals its number only when it has that of the phone, and has committed itself to it before. */
function readNonce({ step, request, answer, refuse }: Reading): void {
  const nonce = bytes(request)
  const { commitment } = step
  const hash = createHash('sha256')
    .update(commitment?.identity ?? '')
    .update(nonce ?? '')
    .digest()
  if (!nonce || !commitment?.hash.equals(hash)) {
    refuse('400', 'not the nonce of the commitment')
    return
  }
  step.isRevealed = true
  if (step.proof !== 'honored') step.code = codeOf(nonce, step.keyPair.public, step.nonce)
  answer()
}

function readPairingRequest({ pairing, step, request, answer, refuse }: Reading): void {
  const { encryptedPayload, iv } = proto.EncryptedPairingRequest.decode(bytes(request) ?? Buffer.alloc(0))
  const { request: companion } = step
  const shared = companion && Curve.sharedKey(step.keyPair.private, companion.key)
  const key = shared && requestKey(shared, companion.deviceType, companion.ref)
  const opened = key && step.isRevealed && iv && encryptedPayload && openRequest(key, iv, encryptedPayload)
  const content = opened ? proto.PairingRequest.decode(opened) : undefined
  const { companionPublicKey, companionIdentityKey, advSecret } = content ?? {}
  const isOfCompanion =
    pairing.noiseKey.equals(Buffer.from(companionPublicKey ?? [])) &&
    pairing.bundle.identity.equals(Buffer.from(companionIdentityKey ?? []))
  if (!isOfCompanion || advSecret?.length !== 32) {
    refuse('400', 'bad pairing request')
    return
  }
  answer()
  step.accept = () => {
    pairing.passkey = undefined
    const secret = Buffer.from(advSecret).toString('base64')
    proveLink(pairing, step.phone, secret).then(step.linked, step.failed)
  }
  // Without a proof, the companion asks for the link only when its person has compared the codes.
  if (step.proof !== 'ignored') step.accept()
}

/** The person says that the codes are the same. */
export function acceptCode({ passkey }: Pairing): void {
  if (!passkey?.accept) throw new SimulatorError('The phone waits for no decision about the code.', 409)
  passkey.accept()
}

/** The person says that the codes differ. */
export function refuseCode(pairing: Pairing): void {
  pairing.passkey?.failed(new SimulatorError('The person has refused the code of the companion.'))
  pairing.passkey = undefined
  pairing.connection.close()
}

/** WebAuthn request options, as JSON. */
function optionsOf({ passkey }: Pairing): Buffer {
  const id = passkey && passkeyOf(passkey.phone.identity).credentialId.toString('base64url')
  return Buffer.from(
    JSON.stringify({
      challenge: passkey?.challenge,
      rpId: relyingParty,
      timeout: timeoutMs,
      userVerification: 'required',
      allowCredentials: [{ type: 'public-key', id, transports: ['internal', 'hybrid'] }],
    }),
  )
}

function notify(pairing: Pairing, type: string, tag: string, content: Buffer): void {
  notifyPairing(pairing, type, [node(tag, {}, content)])
}
