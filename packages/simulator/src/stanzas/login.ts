import type { proto } from 'baileys'
import { deviceLid } from '../network/device.ts'
import type { Fault } from '../network/faults.ts'
import type { Network } from '../network/network.ts'
import type { Device } from '../network/phone.ts'
import { secondsToWait } from '../network/rate-limits.ts'
import { clientVersionOf, refuserOf } from '../network/web-version.ts'
import type { Connection } from '../wire/connection.ts'
import { node, nowSeconds } from '../wire/node.ts'
import { demandMessageAcks } from './demand-acks.ts'
import { activate } from './stream.ts'
import { endStream, streamError } from './stream-error.ts'

const failureReasons = new Set(['401', '402', '403', '405', '406', '409', '411', '500', '503'])
const outdated = '405'

/** Logs a linked companion in, or refuses it with a reason. */
export function logIn(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
  noiseKey: Buffer,
): void {
  const number = String(payload.username ?? '')
  const device = network.phones.get(number)?.devices.get(payload.device ?? -1)
  const note = (result: string) => noteLogin(network, connection, payload, result)
  if (!device?.noiseKey.equals(noiseKey)) {
    note('401')
    refuse(network, connection, { reason: '401' })
    return
  }
  if (isRefusedAtLogin(network, payload)) {
    device.logins.refused += 1
    refuseOutdated(network, connection, payload)
    return
  }
  if (secondsToWait(network.faults, 'login_limit', number) !== undefined) {
    note('429')
    device.logins.refused += 1
    refuse(network, connection, { reason: '429' })
    return
  }
  const failure = network.faults.strike('login_failure', number, undefined, 'login')
  if (failure?.code) {
    note(failure.code)
    device.logins.refused += 1
    refuse(network, connection, failureAttributes(failure))
    return
  }
  if (network.faults.strike('drop', number, undefined, 'login')) {
    note('dropped')
    connection.terminate()
    return
  }
  if (network.faults.strike('half_open', number, undefined, 'login')) {
    note('dropped')
    connection.goHalfOpen()
    return
  }
  const fault = network.faults.strike('stream_error', number, undefined, 'login')
  note(fault?.code ?? 'ok')
  if (fault?.code && failureReasons.has(fault.code)) {
    device.logins.refused += 1
    refuse(network, connection, { reason: fault.code })
    return
  }

  replaceConnection(network, device)
  network.connections.set(connection, { kind: 'device', device })
  device.connection = connection
  device.active = false
  device.isAnnounced = false
  device.handout = undefined
  device.sentAtMs.clear()
  network.counters.logins += 1
  device.logins.ok += 1
  demandMessageAcks(network, device, connection)
  connection.send(
    node('success', {
      t: nowSeconds(),
      props: '27',
      companion_enc_static: '',
      location: 'sim',
      lid: deviceLid(device),
    }),
  )
  if (fault?.code) endStream(device, connection, fault.code)
  else if (!payload.passive) activate(network, device)
}

export function isRefusedAtLogin({ webVersion }: Network, payload: proto.IClientPayload): boolean {
  return refuserOf(webVersion, clientVersionOf(payload)) === 'login'
}

/** WhatsApp refuses clients that are too old, linked or not. */
export function refuseOutdated(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
): void {
  noteLogin(network, connection, payload, outdated)
  refuse(network, connection, { reason: outdated })
}

function noteLogin(
  network: Network,
  connection: Connection,
  payload: proto.IClientPayload,
  result: string,
): void {
  network.logins.add({
    t: new Date().toISOString(),
    connection: connection.id,
    sender: String(payload.username ?? ''),
    device: payload.device ?? 0,
    version: clientVersionOf(payload).join('.'),
    result,
  })
}

/** A companion has one connection: a new one ends the old one with a conflict. */
function replaceConnection(network: Network, device: Device): void {
  const old = device.connection
  if (!old) return
  if (old.halfOpen) {
    old.terminate()
    return
  }
  network.counters.conflicts += 1
  streamError(old, 'conflict')
}

type Attributes = Parameters<typeof node>[1]

/** A ban says how long it still lasts. */
function failureAttributes(fault: Fault): Attributes {
  const { code, ban_code, expire, violation_reason, appeal_token, until } = fault
  const leftSeconds = Math.max(0, Math.ceil((until - performance.now()) / 1000))
  return {
    reason: code,
    code: ban_code,
    expire: expire === undefined ? undefined : leftSeconds.toString(),
    violation_reason,
    appeal_token,
  }
}

function refuse(network: Network, connection: Connection, attributes: Attributes): void {
  network.counters.refused_logins += 1
  connection.send(node('failure', { ...attributes, location: 'sim' }))
  connection.close()
}
