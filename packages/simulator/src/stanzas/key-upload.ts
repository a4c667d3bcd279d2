import type { KeyBundle } from '../network/phone.ts'
import { bytes, child, children, type Node, uint } from '../wire/node.ts'
import type { IqCall } from './iq-call.ts'

export function storePreKeys({ network, device, stanza }: IqCall): undefined {
  const identity = bytes(child(stanza, 'identity'))
  const registrationId = uint(child(stanza, 'registration'))
  const signedPreKey = readSignedPreKey(child(stanza, 'skey'))
  if (!identity || registrationId === undefined || !signedPreKey) throw new Error('incomplete key upload')
  device.bundle = { identity, registrationId, signedPreKey }
  for (const key of children(child(stanza, 'list'), 'key')) {
    const id = uint(child(key, 'id'))
    const value = bytes(child(key, 'value'))
    if (id !== undefined && value) device.preKeys.set(id, value)
  }
  network.counters.prekey_uploads += 1
  network.state.save(device.phone)
}

export function rotateSignedPreKey({ network, device }: IqCall, query: Node | undefined): undefined {
  const signedPreKey = readSignedPreKey(child(query, 'skey'))
  if (!signedPreKey) throw new Error('incomplete signed pre-key')
  device.bundle = { ...device.bundle, signedPreKey }
  network.state.save(device.phone)
}

export function readSignedPreKey(key: Node | undefined): KeyBundle['signedPreKey'] | undefined {
  const id = uint(child(key, 'id'))
  const value = bytes(child(key, 'value'))
  const signature = bytes(child(key, 'signature'))
  return id === undefined || !value || !signature ? undefined : { id, public: value, signature }
}
