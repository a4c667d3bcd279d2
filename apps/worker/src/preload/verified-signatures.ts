import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'

type Bytes = Uint8Array
type Curve = { verifySignature(key: Bytes, message: Bytes, signature: Bytes, isInit?: boolean): unknown }

const rememberedMax = 10_000

// The copy that Baileys uses, which need not be the only one installed.
const require = createRequire(import.meta.resolve('baileys'))
const curve = require('libsignal/src/curve.js') as Curve
const verify = curve.verifySignature
/** Hashes of valid signatures, in the order of their first check. */
const remembered = new Set<string>()

/**
 * libsignal verifies signatures in plain JavaScript, 8 ms each, on the event loop. The same ones recur: those of WhatsApp's
 * two certificates with every login of every sender, that of a recipient's pre-key with each of its senders. Valid
 * signatures are remembered by the hash of key, message and signature, so the same check is not repeated. Invalid ones are
 * checked every time.
 */
curve.verifySignature = (key, message, signature, isInit) => {
  // With `isInit`, libsignal does not check the signature at all.
  if (isInit) return verify(key, message, signature, isInit)
  const check = hash(key, message, signature)
  if (remembered.has(check)) return true
  const result = verify(key, message, signature)
  if (result === true) remembered.add(check)
  const [oldest] = remembered
  if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest)
  return result
}

/** Each part is hashed with its length, so that no two different checks have the same input. */
function hash(...parts: Bytes[]): string {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(`${part?.length}:`).update(part ?? '')
  return digest.digest('base64')
}
