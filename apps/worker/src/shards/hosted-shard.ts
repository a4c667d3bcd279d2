import type { Running } from '@wagate/runtime/running'
import type { CommandHandlers } from '@wagate/shared/commands'
import { type Device, makeDevice } from '../device/device.ts'
import type { DeviceContext } from '../device/device-context.ts'
import type { Lease } from '../ownership/lease.ts'

export type HostedShard = {
  readonly lease: Lease
  /** By id. A device is added when it is first mentioned, and forgotten once it is removed. */
  readonly devices: Map<number, Device>
  /** Of its command queue. */
  consumer: Promise<Running>
  /** Devices with credentials. */
  linked: number
}

export function makeHostedShard(lease: Lease): HostedShard {
  return { lease, devices: new Map(), consumer: notStarted, linked: 0 }
}

export function deviceOf(context: DeviceContext, shard: HostedShard, deviceId: number): Device {
  const known = shard.devices.get(deviceId)
  if (known) return known
  const made = makeDevice(context, shard.lease, deviceId, forget)
  shard.devices.set(deviceId, made)
  return made

  function forget(): void {
    if (shard.devices.get(deviceId) !== made) return
    shard.devices.delete(deviceId)
    void made.close('lost')
  }
}

export function commandHandlersOf(context: DeviceContext, shard: HostedShard): CommandHandlers {
  const find = ({ deviceId }: { deviceId: number }) => deviceOf(context, shard, deviceId)
  const reconcile = async (command: { deviceId: number }) => find(command).reconcile()
  return {
    send: async (command) => find(command).wake(),
    'start-session': reconcile,
    'end-session': reconcile,
    'apply-settings': reconcile,
    'check-number': async (command) =>
      find(command).checkNumbers([command.number, ...(command.others ?? [])]),
    'submit-passkey': async (command) => find(command).submitPasskey(),
    'confirm-passkey': async (command) => find(command).confirmPasskey(),
    'mark-read': async (command) => find(command).markRead(),
    'request-pairing-code': async (command) => find(command).requestPairingCode(),
  }
}

const notStarted: Promise<Running> = Promise.resolve({ close: async () => undefined })
