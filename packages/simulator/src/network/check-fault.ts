import {
  addressings,
  coded,
  delaying,
  type FaultRequest,
  faultFields,
  faultKinds,
  limiting,
  refreshMoments,
  streamErrorCodes,
} from './faults.ts'
import { refuseUnknownFields } from './known-fields.ts'
import { SimulatorError } from './simulator-error.ts'

/** A request as it is written in code, where a code such as 463 may be a number. */
export type WrittenFault = Omit<FaultRequest, 'code'> & { code?: string | number }

export function checkFault({ code, ...rest }: WrittenFault): FaultRequest {
  refuseUnknownFields(rest, faultFields, 'A fault')
  const request: FaultRequest = { ...rest, ...(code !== undefined && { code: String(code) }) }
  if (!faultKinds.includes(request.kind)) refuse(`kind must be one of: ${faultKinds.join(', ')}`)
  if (request.kind === 'stream_error' && !isOneOf(streamErrorCodes, request.code)) {
    refuse(`a stream_error needs a code: ${streamErrorCodes.join(', ')}`)
  }
  if (request.kind === 'addressing' && !isOneOf(addressings, request.code)) {
    refuse(`addressing needs a code: ${addressings.join(', ')}`)
  }
  if (request.kind === 'registration_refresh' && !isOneOf(refreshMoments, request.code)) {
    refuse(`registration_refresh needs a code: ${refreshMoments.join(', ')}`)
  }
  if (request.size !== undefined && !(Number.isInteger(request.size) && request.size >= 0)) {
    refuse('size is a whole number')
  }
  if (limiting.has(request.kind) && request.size === undefined) refuse(`${request.kind} needs a size`)
  if (coded.has(request.kind) && !/^\d{3}$/.test(request.code ?? '')) {
    refuse(`${request.kind} needs a code of three digits, such as 463 or 500`)
  }
  const isPaced = request.kind === 'slow_read' && request.bytes_per_second !== undefined
  if (delaying.has(request.kind) && request.ms === undefined && !isPaced) refuse(`${request.kind} needs ms`)
  if (request.bytes_per_second !== undefined && !(request.bytes_per_second > 0)) {
    refuse('bytes_per_second must be positive')
  }
  if (request.kind === 'not_on_whatsapp' && request.number === undefined)
    refuse('not_on_whatsapp needs a number')
  if (request.expire !== undefined && !(Number.isInteger(request.expire) && request.expire >= 0)) {
    refuse('expire must be a whole number of seconds')
  }
  if (request.backoff !== undefined && !(request.backoff >= 0)) refuse('backoff must not be negative')
  if (request.share !== undefined && !(request.share >= 0 && request.share <= 1))
    refuse('share must be from 0 to 1')
  if (request.ms !== undefined && !(request.ms >= 0)) refuse('ms must not be negative')
  if (request.count !== undefined && !(Number.isInteger(request.count) && request.count > 0)) {
    refuse('count must be a positive integer')
  }
  return request
}

function isOneOf(values: readonly string[], value: string | undefined): boolean {
  return value !== undefined && values.includes(value)
}

function refuse(sentence: string): never {
  throw new SimulatorError(sentence)
}
