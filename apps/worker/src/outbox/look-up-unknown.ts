import type { WaitingMessage } from '@wagate/db/queries/messages/waiting-messages'
import type { Logger } from '@wagate/runtime/logger'
import type { LookUp } from '../session/contacts/look-up.ts'
import type { NumberResolver } from './number-resolver.ts'

const retryMs = 1000

type LookUps = {
  resolver: NumberResolver
  lookUp: LookUp
  logger: Logger
  deviceId: number
  pump(): void
  pumpAfter(ms: number): void
}

/** Looks up the numbers of messages whose recipients are not known, one query at a time. */
export function makeLookUpUnknown(lookUps: LookUps): (unknown: WaitingMessage[]) => void {
  const { resolver, lookUp, logger, deviceId, pump, pumpAfter } = lookUps
  let isResolving = false
  return (unknown) => {
    if (unknown.length === 0 || isResolving) return
    const numbers = unknown.map(({ number }) => number)
    const due = numbers.filter((number) => resolver.waitMs(number) === 0)
    if (due.length < numbers.length) {
      pumpAfter(Math.min(...numbers.map(resolver.waitMs).filter((waitMs) => waitMs > 0)))
    }
    if (due.length === 0) return
    isResolving = true
    const resolved = resolver.resolve(due, lookUp).finally(() => {
      isResolving = false
    })
    resolved.then(pump, (error) => {
      logger.warn({ err: error, deviceId }, 'Looking up recipients failed, will retry')
      pumpAfter(retryMs)
    })
  }
}
