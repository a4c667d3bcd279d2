import { type Assertion, makeAssertion } from '../handset/authenticator.ts'
import { type Network, phoneOf } from '../network/network.ts'
import type { Pairing, PasskeyStep } from '../network/pairing.ts'
import { passkeyOf } from '../network/passkey.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { acceptCode, refuseCode } from '../stanzas/passkey.ts'
import { checkNumber } from './check-number.ts'

type PasskeyView = {
  required: boolean
  /** base64url. */
  credential_id: string
  /** PKCS #8, base64, for the virtual authenticator of a browser. */
  private_key: string
  /** The code on the screen of the phone, null while it asks for no comparison. */
  code: string | null
}

/** What a person does to link a companion of an account that has a passkey. */
export type PasskeyActions = {
  /** WhatsApp links companions of the account only with its passkey, or without it again. */
  requirePasskey: (number: string, request: { required: boolean }) => PasskeyView
  passkey: (number: string) => PasskeyView
  /** The person uses the passkey on WhatsApp's page, in place of a browser. */
  assertPasskey: (number: string, request: { challenge: string }) => Assertion
  /** The person says that the companion shows the same code. Needed only when the phone ignores a proof. */
  acceptPasskeyCode: (number: string) => { ok: true }
  /** The person says that the code of the companion is another one. */
  refusePasskeyCode: (number: string) => { ok: true }
}

export function passkeyActions(network: Network): PasskeyActions {
  const find = (number: string) => phoneOf(network, checkNumber(number))

  function view(number: string): PasskeyView {
    const { identity, isPasskeyRequired } = find(number)
    const { credentialId, privateKey } = passkeyOf(identity)
    return {
      required: isPasskeyRequired,
      credential_id: credentialId.toString('base64url'),
      private_key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
      code: findStep(network, number)?.step.code ?? null,
    }
  }

  return {
    requirePasskey(number, { required }) {
      find(number).isPasskeyRequired = required
      return view(number)
    },
    passkey: view,
    assertPasskey: (number, { challenge }) => makeAssertion(passkeyOf(find(number).identity), challenge),
    acceptPasskeyCode(number) {
      const found = findStep(network, number)
      if (!found?.step.code) throw new SimulatorError('The phone shows no code.', 409)
      acceptCode(found.pairing)
      return { ok: true }
    },
    refusePasskeyCode(number) {
      const found = findStep(network, number)
      if (!found?.step.code) throw new SimulatorError('The phone shows no code.', 409)
      refuseCode(found.pairing)
      return { ok: true }
    },
  }
}

function findStep(network: Network, number: string): { pairing: Pairing; step: PasskeyStep } | undefined {
  const pairings = [...new Set(network.pairings.values())]
  const pairing = pairings.findLast(({ passkey }) => passkey?.phone.number === checkNumber(number))
  return pairing?.passkey && { pairing, step: pairing.passkey }
}
