import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'

/**
 * libsignal verifies signatures in plain JavaScript, 8 ms each, on the event loop. The same ones come again
 * and again: the two of WhatsApp's certificates with every login of every sender, a recipient's pre-key with
 * each of its senders. What was found to be right is remembered by the hash of key, message and signature, so
 * exactly the same check is not made twice. What was wrong is checked every time.
 */
type Bytes = Uint8Array
type Curve = { verifySignature(key: Bytes, message: Bytes, signature: Bytes, isInit?: boolean): unknown }

const rememberedMax = 10_000

// The copy that Baileys uses, whatever else is installed.
const require = createRequire(import.meta.resolve('baileys'))
const curve = require('libsignal/src/curve.js') as Curve
const verify = curve.verifySignature
/** In the order of their first check. */
const remembered = new Set<string>()

curve.verifySignature = (key, message, signature, isInit) => {
  // With `isInit` libsignal does not look at the signature at all.
  if (isInit) return verify(key, message, signature, isInit)
  const check = hash(key, message, signature)
  if (remembered.has(check)) return true
  const result = verify(key, message, signature)
  if (result === true) remembered.add(check)
  const [oldest] = remembered
  if (remembered.size > rememberedMax && oldest !== undefined) remembered.delete(oldest)
  return result
}

/** Each part with its length: no two checks hash alike. */
function hash(...parts: Bytes[]): string {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(`${part?.length}:`).update(part ?? '')
  return digest.digest('base64')
}
