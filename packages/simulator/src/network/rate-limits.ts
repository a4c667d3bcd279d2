import type { Fault, FaultKind, Faults } from './faults.ts'

export type LimitKind = Extract<FaultKind, `${string}_limit`>

/** When each account did what a fault limits, within the time that the fault looks back. */
const usedAtMs = new WeakMap<Fault, Map<string, number[]>>()

/** Counts one more use by an account. If it is beyond a limit, it does not count, and the seconds to wait are returned. */
export function secondsToWait(faults: Faults, kind: LimitKind, number: string): number | undefined {
  const fault = faults.find(kind, number)
  if (!fault) return undefined
  const nowMs = performance.now()
  const windowMs = fault.ms ?? 0
  const byAccount = usedAtMs.get(fault) ?? new Map<string, number[]>()
  const uses = (byAccount.get(number) ?? []).filter((at) => at > nowMs - windowMs)
  usedAtMs.set(fault, byAccount.set(number, uses))
  if (uses.length < (fault.size ?? 0)) {
    uses.push(nowMs)
    return undefined
  }
  return Math.ceil(((uses[0] ?? nowMs) + windowMs - nowMs) / 1000)
}
