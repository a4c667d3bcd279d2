import { SimulatorError } from '../simulator-error.ts'

const faultKinds = [
  'drop',
  'half_open',
  'stream_error',
  'ack_drop',
  'ack_delay',
  'ack_error',
  'slow_read',
  'not_on_whatsapp',
  'lookup_omit',
  'lookup_error',
  'lookup_refuse',
  'lookup_correct',
  'devices_delay',
  'devices_omit',
  'no_receipts',
  'ack_required',
  'offline_parts',
  'addressing',
  'changes_omit',
  'changes_as_update',
] as const

export type FaultKind = (typeof faultKinds)[number]

const streamErrorCodes = [
  '515',
  '428',
  '408',
  '503',
  '500',
  '401',
  '402',
  '403',
  '405',
  '406',
  '409',
  '411',
  'conflict',
] as const

/** Where a contact writes from: `lid_only` hides its number. */
const addressings = ['pn', 'lid', 'lid_only'] as const

/** A fault as requested. Without `sender` it affects all senders, without `share` every case. */
export type FaultRequest = {
  kind: FaultKind
  sender?: string
  /** The recipient, or the number that is looked up. */
  number?: string
  code?: string
  /** Seconds that the error of a look-up asks the client to wait. */
  backoff?: number
  /** 0 to 1: the share of the cases that it affects. */
  share?: number
  /** The delay of `ack_delay`, `devices_delay`, `slow_read` and `ack_required`; for the others, how long the fault lasts. */
  ms?: number
  /** For `slow_read`, instead of `ms`. */
  bytes_per_second?: number
  /** For `offline_parts`: the first part has this many stanzas and is not waited for, no other part has more. */
  size?: number
  /** How often it strikes before it is removed. Broken connections then replace that many acks. */
  count?: number
}

/** A connection breaks when a client logs in, or instead of the ack of a message. */
export type FaultMoment = 'login' | 'message'

export type Fault = FaultRequest & {
  id: string
  strikes: number
  until: number
  moment: FaultMoment | undefined
}

const breaking: ReadonlySet<FaultKind> = new Set(['drop', 'half_open', 'stream_error'])
const delaying: ReadonlySet<FaultKind> = new Set(['ack_delay', 'devices_delay', 'slow_read', 'ack_required'])
/** They accept any `code`. */
const coded: ReadonlySet<FaultKind> = new Set(['ack_error', 'lookup_error', 'lookup_refuse'])

/** The active faults. Checks are cheap when there are none. */
export class Faults {
  readonly #faults = new Map<string, Fault>()
  #made = 0

  add(request: FaultRequest): Fault {
    const lastsMs = delaying.has(request.kind)
      ? Number.POSITIVE_INFINITY
      : (request.ms ?? Number.POSITIVE_INFINITY)
    const id = `fault-${++this.#made}`
    const moment = breaking.has(request.kind)
      ? request.count === undefined
        ? 'login'
        : 'message'
      : undefined
    const fault: Fault = { ...request, id, strikes: 0, until: performance.now() + lastsMs, moment }
    const isOver = moment === 'login' && request.ms === undefined
    if (!isOver) this.#faults.set(id, fault)
    return fault
  }

  remove(id: string): boolean {
    return this.#faults.delete(id)
  }

  clear(): void {
    this.#faults.clear()
  }

  list(): Fault[] {
    return [...this.#faults.values()]
  }

  /** The fault of these kinds that affects this case, if any. Each call counts as one strike of that fault. */
  strike(
    kind: FaultKind,
    sender: string | undefined,
    number?: string,
    moment?: FaultMoment,
  ): Fault | undefined {
    if (this.#faults.size === 0) return undefined
    for (const fault of this.#faults.values()) {
      if (fault.kind !== kind || fault.moment !== moment || !this.#meets(fault, sender, number)) continue
      fault.strikes += 1
      if (fault.count !== undefined && fault.strikes >= fault.count) this.#faults.delete(fault.id)
      return fault
    }
    return undefined
  }

  /** Whether a fault is active, without counting a strike. */
  find(kind: FaultKind, sender: string): Fault | undefined {
    for (const fault of this.#faults.values()) {
      if (fault.kind === kind && this.#meets(fault, sender, undefined)) return fault
    }
    return undefined
  }

  #meets(fault: Fault, sender: string | undefined, number: string | undefined): boolean {
    if (performance.now() > fault.until) {
      this.#faults.delete(fault.id)
      return false
    }
    if (fault.sender !== undefined && fault.sender !== sender) return false
    if (fault.number !== undefined && fault.number !== number) return false
    return fault.share === undefined || Math.random() < fault.share
  }
}

export function checkFault(request: FaultRequest): FaultRequest {
  if (!faultKinds.includes(request.kind)) refuse(`kind is one of ${faultKinds.join(', ')}`)
  if (request.kind === 'stream_error' && !isOneOf(streamErrorCodes, request.code)) {
    refuse(`a stream_error needs a code: ${streamErrorCodes.join(', ')}`)
  }
  if (request.kind === 'addressing' && !isOneOf(addressings, request.code)) {
    refuse(`addressing needs a code: ${addressings.join(', ')}`)
  }
  if (request.size !== undefined && !(Number.isInteger(request.size) && request.size >= 0)) {
    refuse('size is a whole number')
  }
  if (coded.has(request.kind) && !/^\d{3}$/.test(request.code ?? '')) {
    refuse(`${request.kind} needs a code of three digits, such as 463 or 500`)
  }
  const isPaced = request.kind === 'slow_read' && request.bytes_per_second !== undefined
  if (delaying.has(request.kind) && request.ms === undefined && !isPaced) refuse(`${request.kind} needs ms`)
  if (request.bytes_per_second !== undefined && !(request.bytes_per_second > 0)) {
    refuse('bytes_per_second is positive')
  }
  if (request.kind === 'not_on_whatsapp' && request.number === undefined)
    refuse('not_on_whatsapp needs a number')
  if (request.backoff !== undefined && !(request.backoff >= 0)) refuse('backoff is not negative')
  if (request.share !== undefined && !(request.share >= 0 && request.share <= 1))
    refuse('share is from 0 to 1')
  if (request.ms !== undefined && !(request.ms >= 0)) refuse('ms is not negative')
  if (request.count !== undefined && !(Number.isInteger(request.count) && request.count > 0)) {
    refuse('count is a positive integer')
  }
  return request
}

function isOneOf(values: readonly string[], value: string | undefined): boolean {
  return value !== undefined && values.includes(value)
}

function refuse(sentence: string): never {
  throw new SimulatorError(sentence)
}
