import { createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Curve } from 'baileys'
import { openWithCode, sealWithCode } from '../handset/link-code-cipher.ts'
import { serverJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { LinkCode, Pairing } from '../network/pairing.ts'
import type { Device } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { bytes, child, type Node, node } from '../wire/node.ts'
import { checkClientVersion } from './check-client-version.ts'
import { notifyPairing } from './notify-pairing.ts'
import { askForPasskey } from './passkey.ts'
import { proveLink, retireAfterScan } from './retire-secret.ts'

/** Reads the two requests of a client that links with a code: for a code, and with its answer to a typed one. */
export function readLinkCode(
  network: Network,
  pairing: Pairing,
  id: string | undefined,
  request: Node,
): void {
  const answer = (attrs: Record<string, string>, content?: Node[]) =>
    pairing.connection.send(node('iq', { from: serverJid, id, ...attrs }, content))
  if (request.attrs.stage === 'companion_finish') {
    answer({ type: 'result' })
    finishLink(pairing, request)
    return
  }
  const number = request.attrs.jid?.split('@')[0] ?? ''
  const wrappedCompanionKey = bytes(child(request, 'link_code_pairing_wrapped_companion_ephemeral_pub'))
  const refused = network.faults.strike('pair_code_error', number)
  const code = refused?.code ?? (number && wrappedCompanionKey ? undefined : '400')
  if (code !== undefined || !wrappedCompanionKey) {
    answer({ type: 'error' }, [node('error', { code, text: 'refused' })])
    return
  }
  const ref = randomBytes(16).toString('base64url')
  pairing.linkCode = { number, ref, wrappedCompanionKey, typed: undefined }
  answer({ type: 'result' }, [
    node('link_code_companion_reg', { stage: 'companion_hello' }, [
      node('link_code_pairing_ref', {}, Buffer.from(ref)),
    ]),
  ])
}

/** A person types a code on the phone. Resolves when the companion is linked. */
export async function typeCode(network: Network, number: string, code: string): Promise<Device> {
  const pairing = findRequest(network, number)
  const linkCode = pairing?.linkCode
  if (!pairing || !linkCode)
    throw new SimulatorError('No companion has asked for a code for this number. Request one first.')
  if (linkCode.typed) throw new SimulatorError('A code was typed already. Request a new one.')
  checkClientVersion(network, pairing)
  const phone = phoneOf(network, number)
  const companionKey = await openWithCode(code, linkCode.wrappedCompanionKey)
  const keyPair = Curve.generateKeyPair() as { private: Buffer; public: Buffer }
  const wrappedKey = await sealWithCode(code, keyPair.public)
  notifyPairing(pairing, 'link_code_companion_reg', [
    node('link_code_companion_reg', { stage: 'primary_hello' }, [
      node('link_code_pairing_wrapped_primary_ephemeral_pub', {}, wrappedKey),
      node('primary_identity_pub', {}, phone.identity.public),
      node('link_code_pairing_ref', {}, Buffer.from(linkCode.ref)),
    ]),
  ])
  retireAfterScan(pairing)
  return new Promise((linked, failed) => {
    linkCode.typed = { phone, keyPair, companionKey, linked, failed }
  })
}

/** Only who knows the code has the same shared key, and can have written what is decrypted here. */
function finishLink(pairing: Pairing, request: Node): void {
  const { linkCode } = pairing
  const typed = linkCode?.typed
  if (!linkCode || !typed) return
  const secret = readBundle(pairing, typed, bytes(child(request, 'link_code_pairing_wrapped_key_bundle')))
  if (!secret) {
    linkCode.typed = undefined
    typed.failed(new SimulatorError('The code is not the one that the companion shows. Type that one.'))
    return
  }
  const link = typed.phone.isPasskeyRequired ? askForPasskey : proveLink
  const linking = link(pairing, typed.phone, secret.toString('base64'))
  linking.then(typed.linked, typed.failed)
}

/** Returns the secret that both sides derive; undefined when the companion has another code. */
function readBundle(
  pairing: Pairing,
  { companionKey, keyPair, phone }: NonNullable<LinkCode['typed']>,
  bundle: Buffer | undefined,
): Buffer | undefined {
  if (!bundle) return undefined
  const shared = Buffer.from(Curve.sharedKey(keyPair.private, companionKey))
  const [salt, iv, sealed] = [bundle.subarray(0, 32), bundle.subarray(32, 44), bundle.subarray(44)]
  const key = hkdfSync('sha256', shared, salt, 'link_code_pairing_key_bundle_encryption_key', 32)
  const opened = decrypt(Buffer.from(key), iv, sealed)
  if (!opened?.subarray(0, 32).equals(pairing.bundle.identity)) return undefined
  if (!opened.subarray(32, 64).equals(phone.identity.public)) return undefined
  const identityShared = Curve.sharedKey(phone.identity.private, pairing.bundle.identity)
  const material = Buffer.concat([shared, identityShared, opened.subarray(64)])
  return Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), 'adv_secret', 32))
}

function decrypt(key: Buffer, iv: Buffer, sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv('aes-256-gcm', key, iv)
  decipher.setAuthTag(sealed.subarray(-16))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
  } catch {
    return undefined
  }
}

function findRequest(network: Network, number: string): Pairing | undefined {
  const pairings = [...new Set(network.pairings.values())]
  return pairings.findLast(({ linkCode }) => linkCode?.number === number)
}
