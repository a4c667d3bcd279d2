import type { FaultKind, FaultRequest } from '../network/faults.ts'
import { type Body, digits, optionalNumber, optionalText, text } from './read-body.ts'

export function readFault(body: Body): FaultRequest {
  const sender = optionalText(body, 'sender')
  const number = optionalText(body, 'number')
  const code = optionalText(body, 'code')
  const share = optionalNumber(body, 'share')
  const ms = optionalNumber(body, 'ms')
  const count = optionalNumber(body, 'count')
  const backoff = optionalNumber(body, 'backoff')
  const bytesPerSecond = optionalNumber(body, 'bytes_per_second')
  const expire = optionalNumber(body, 'expire')
  const banCode = optionalText(body, 'ban_code')
  const violation = optionalText(body, 'violation_reason')
  const appealToken = optionalText(body, 'appeal_token')
  const size = optionalNumber(body, 'size')
  return {
    kind: text(body, 'kind') as FaultKind,
    ...(sender !== undefined && { sender: digits(sender) }),
    ...(number !== undefined && { number: digits(number) }),
    ...(code !== undefined && { code }),
    ...(share !== undefined && { share }),
    ...(ms !== undefined && { ms }),
    ...(count !== undefined && { count }),
    ...(backoff !== undefined && { backoff }),
    ...(bytesPerSecond !== undefined && { bytes_per_second: bytesPerSecond }),
    ...(expire !== undefined && { expire }),
    ...(banCode !== undefined && { ban_code: banCode }),
    ...(violation !== undefined && { violation_reason: violation }),
    ...(appealToken !== undefined && { appeal_token: appealToken }),
    ...(size !== undefined && { size }),
  }
}
