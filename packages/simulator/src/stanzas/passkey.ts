import { createHash, randomBytes } from 'node:crypto'
import { Curve, proto } from 'baileys'
import { findFlaw, relyingParty } from '../handset/authenticator.ts'
import { codeOf, openRequest, requestKey } from '../handset/passkey-cipher.ts'
import { serverJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import type { Pairing, PasskeyStep } from '../network/pairing.ts'
import { passkeyOf } from '../network/passkey.ts'
import type { Device, KeyPair, Phone } from '../network/phone.ts'
import { SimulatorError } from '../simulator-error.ts'
import { bytes, child, type Node, node } from '../wire/node.ts'
import { notifyPairing } from './notify-pairing.ts'
import { proveLink, retireAfterScan } from './retire-secret.ts'

const timeoutMs = 600_000

/** WhatsApp asks the companion for an assertion before the phone links it. Resolves when the companion is linked. */
export function askForPasskey(pairing: Pairing, phone: Phone): Promise<Device> {
  const linking = new Promise<Device>((linked, failed) => {
    pairing.passkey = {
      phone,
      challenge: randomBytes(32).toString('base64url'),
      ref: randomBytes(16).toString('base64url'),
      keyPair: Curve.generateKeyPair() as KeyPair,
      nonce: randomBytes(32),
      commitment: undefined,
      request: undefined,
      code: undefined,
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
  const identity = Buffer.from(payload.companionEphemeralIdentity ?? [])
  const { publicKey, deviceType, ref } = proto.CompanionEphemeralIdentity.decode(identity)
  const hash = Buffer.from(payload.commitment?.hash ?? [])
  const refused = network.faults.strike('passkey_error', step.phone.number)
  const flaw = refused ? 'refused' : findFlaw(passkeyOf(step.phone.identity), step.challenge, given)
  // A new link has no secret that an earlier one could vouch for.
  const isRelink = child(request, 'pairing_handoff_proof') !== undefined
  if (flaw || !publicKey || ref !== step.ref || hash.length !== 32 || isRelink) {
    refuse(refused?.code ?? '403', flaw ?? 'bad prologue')
    return
  }
  step.commitment = { identity, hash }
  step.request = { key: Buffer.from(publicKey), deviceType: deviceType ?? 0, ref }
  answer()
  if (network.faults.strike('passkey_silence', step.phone.number)) return
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
  step.code = codeOf(nonce, step.keyPair.public, step.nonce)
  answer()
}

function readPairingRequest({ pairing, step, request, answer, refuse }: Reading): void {
  const { encryptedPayload, iv } = proto.EncryptedPairingRequest.decode(bytes(request) ?? Buffer.alloc(0))
  const { request: companion } = step
  const shared = companion && Curve.sharedKey(step.keyPair.private, companion.key)
  const key = shared && requestKey(shared, companion.deviceType, companion.ref)
  const opened = key && step.code && iv && encryptedPayload && openRequest(key, iv, encryptedPayload)
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
  pairing.passkey = undefined
  const secret = Buffer.from(advSecret).toString('base64')
  proveLink(pairing, step.phone, secret).then(step.linked, step.failed)
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
