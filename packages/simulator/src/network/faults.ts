export const faultKinds = [
  'drop',
  'half_open',
  'stream_error',
  'login_failure',
  'ack_drop',
  'ack_delay',
  'ack_error',
  'first_contact_error',
  'refresh_lid',
  'new_chat_query_omit',
  'new_chat_query_error',
  'slow_read',
  'not_on_whatsapp',
  'lookup_omit',
  'lookup_error',
  'lookup_refuse',
  'lookup_correct',
  'lid_omit',
  'devices_delay',
  'devices_omit',
  'devices_refuse',
  'keys_refuse',
  'media_expire',
  'media_garble',
  'garble',
  'unavailable',
  'login_limit',
  'message_limit',
  'key_limit',
  'lookup_limit',
  'no_receipts',
  'no_resends',
  'ack_required',
  'offline_parts',
  'pair_code_error',
  'registration_refresh',
  'addressing',
  'changes_omit',
  'passkey_error',
  'passkey_silence',
  'passkey_compare',
  'salt_omit',
  'app_state_omit',
  'logout_refuse',
  'changes_as_update',
] as const

export type FaultKind = (typeof faultKinds)[number]

export const streamErrorCodes = [
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
  '429',
  '516',
  'conflict',
  'device_removed',
  'ack',
] as const

/** When WhatsApp retires the secret of the QR codes of a companion that is being linked. */
export const refreshMoments = ['before_scan', 'after_scan', 'both'] as const
export type RefreshMoment = (typeof refreshMoments)[number]

/** Where a contact writes from: `lid_only` hides its number, `pn_only` its LID. */
export const addressings = ['pn', 'lid', 'pn_only', 'lid_only'] as const

/** A fault as requested. Without `sender` it affects all senders, without `share` every case. */
export type FaultRequest = {
  kind: FaultKind
  sender?: string
  /** The recipient, or the number that is looked up. */
  number?: string
  code?: string
  /** Attributes of a `login_failure` beside its `code`: seconds until the ban ends, what it is for, and what a lock is for. */
  expire?: number
  ban_code?: string
  violation_reason?: string
  appeal_token?: string
  /** Seconds that the error of a look-up asks the client to wait. */
  backoff?: number
  /** 0 to 1: the share of the cases that it affects. */
  share?: number
  /**
   * The delay of `ack_delay`, `devices_delay`, `slow_read` and `ack_required`, the time in which a limit counts; for the
   * others, how long the fault lasts.
   */
  ms?: number
  /** For `slow_read`, instead of `ms`. */
  bytes_per_second?: number
  /**
   * For `offline_parts`: the first part has this many stanzas and is not waited for, no other part has more. For a limit:
   * how many uses an account has in `ms`.
   */
  size?: number
  /** How often it strikes before it is removed. Broken connections then replace that many acks. */
  count?: number
}

/** Of every fault. */
export const faultFields = Object.keys({
  kind: true,
  sender: true,
  number: true,
  code: true,
  expire: true,
  ban_code: true,
  violation_reason: true,
  appeal_token: true,
  backoff: true,
  share: true,
  ms: true,
  bytes_per_second: true,
  size: true,
  count: true,
} satisfies Record<keyof FaultRequest, true>)

/** A connection breaks when a client logs in, or instead of the ack of a message. */
export type FaultMoment = 'login' | 'message'

export type Fault = FaultRequest & {
  id: string
  strikes: number
  /** Time of the process, as `until`. */
  startedAtMs: number
  until: number
  moment: FaultMoment | undefined
}

const breaking: ReadonlySet<FaultKind> = new Set(['drop', 'half_open', 'stream_error'])
export const limiting: ReadonlySet<FaultKind> = new Set([
  'login_limit',
  'message_limit',
  'key_limit',
  'lookup_limit',
])
/** Their `ms` is not how long they last. */
export const delaying: ReadonlySet<FaultKind> = new Set([
  'ack_delay',
  'devices_delay',
  'slow_read',
  'ack_required',
  ...limiting,
])
/** They accept any `code`. */
export const coded: ReadonlySet<FaultKind> = new Set([
  'login_failure',
  'ack_error',
  'first_contact_error',
  'new_chat_query_error',
  'lookup_error',
  'lookup_refuse',
  'devices_refuse',
  'keys_refuse',
  'media_expire',
  'pair_code_error',
])

/** The active faults. Checks are cheap when there are none. */
export class Faults {
  readonly #faults = new Map<string, Fault>()
  #made = 0

  add(request: FaultRequest): Fault {
    const lastsMs = durationOf(request)
    const startedAtMs = performance.now()
    const id = `fault-${++this.#made}`
    const moment = momentOf(request)
    const fault: Fault = { ...request, id, strikes: 0, startedAtMs, until: startedAtMs + lastsMs, moment }
    const isOver = breaking.has(request.kind) && moment === 'login' && request.ms === undefined
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
    return [...this.#faults.values()].filter(({ until }) => performance.now() <= until)
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
  find(kind: FaultKind, sender?: string): Fault | undefined {
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

function durationOf({ kind, ms, expire }: FaultRequest): number {
  if (delaying.has(kind)) return Number.POSITIVE_INFINITY
  const expireMs = expire === undefined ? Number.POSITIVE_INFINITY : expire * 1000
  return Math.min(ms ?? Number.POSITIVE_INFINITY, expireMs)
}

function momentOf({ kind, count }: FaultRequest): FaultMoment | undefined {
  if (kind === 'login_failure') return 'login'
  if (!breaking.has(kind)) return undefined
  return count === undefined ? 'login' : 'message'
}
