import { createHash } from 'node:crypto'
import { encodeBigEndian, KEY_BUNDLE_TYPE } from 'baileys'
import type { Device } from '../network/phone.ts'
import { type Node, node } from '../wire/node.ts'

const bigEndian = (value: number, bytes?: number): Buffer => Buffer.from(encodeBigEndian(value, bytes))

/** The uploaded keys of a companion. It compares the hash with one of its own keys, in the order of the list. */
export function keyDigest({ bundle, preKeys }: Device): Node {
  const { identity, registrationId, signedPreKey } = bundle
  const hash = createHash('sha1').update(identity).update(signedPreKey.public).update(signedPreKey.signature)
  for (const key of preKeys.values()) hash.update(key)
  return node('digest', {}, [
    node('registration', {}, bigEndian(registrationId)),
    node('type', {}, KEY_BUNDLE_TYPE),
    node('identity', {}, identity),
    node('skey', {}, [
      node('id', {}, bigEndian(signedPreKey.id, 3)),
      node('value', {}, signedPreKey.public),
      node('signature', {}, signedPreKey.signature),
    ]),
    node(
      'list',
      {},
      [...preKeys.keys()].map((id) => node('id', {}, bigEndian(id, 3))),
    ),
    node('hash', {}, hash.digest()),
  ])
}
