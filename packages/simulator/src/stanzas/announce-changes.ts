import { deviceJid, deviceLid } from '../network/device.ts'
import { lidJid, pnJid } from '../network/jid.ts'
import type { Network } from '../network/network.ts'
import { notify } from '../network/notify.ts'
import type { Device, Phone } from '../network/phone.ts'
import { type Node, node, nowSeconds } from '../wire/node.ts'
import { hashOf } from './participant-hash.ts'

/** Tells the other companions of the phone, and those of its watchers, that it has gained or lost a companion. */
export function announceDevice(network: Network, change: 'add' | 'remove', device: Device): void {
  const { phone } = device
  const isUpdate = network.faults.strike('changes_as_update', undefined, phone.number) !== undefined
  const keyIndex = change === 'add' ? device.id.toString() : undefined
  const content = node(isUpdate ? 'update' : change, { device_hash: deviceHash(phone) }, [
    node('device', { jid: deviceJid(device), lid: deviceLid(device), 'key-index': keyIndex }),
    node('key-index-list', { ts: nowSeconds() }),
  ])
  announce(network, phone, 'devices', content, [...companionsToTell(network, phone, device)])
}

/** Tells the companions of the watchers that the phone has a new identity: their sessions with it are worthless. */
export function announceIdentity(network: Network, phone: Phone): void {
  announce(network, phone, 'encrypt', node('identity'), [...companionsToTell(network, phone)])
}

function announce(network: Network, phone: Phone, type: string, content: Node, to: Device[]): void {
  if (network.faults.strike('changes_omit', undefined, phone.number)) return
  for (const companion of to) {
    const lid = lidJid(phone.number)
    const isHidden = phone.hidesNumber && companion.phone !== phone
    notify(companion, { ...(isHidden ? { from: lid } : { from: pnJid(phone.number), lid }), type }, [content])
  }
}

function* companionsToTell(network: Network, phone: Phone, except?: Device): Generator<Device> {
  for (const number of new Set([phone.number, ...phone.watchers])) {
    for (const companion of network.phones.get(number)?.devices.values() ?? []) {
      if (companion !== except) yield companion
    }
  }
}

const deviceHash = ({ number, devices }: Phone): string =>
  hashOf([0, ...devices.keys()].map((id) => `${number}.0:${id}@s.whatsapp.net`))
