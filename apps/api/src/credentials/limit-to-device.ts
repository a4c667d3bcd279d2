import type { LinkHolder } from '@wagate/db/queries/devices/pairing-links'
import { AppError } from '../errors/app-error.ts'
import type { Operation } from '../operation.ts'

const reserved = ['sender', 'device_id', 'id', 'name', 'force']

/** Makes a request with a link session act on its device. Throws `credential_not_allowed`. */
export function limitToDevice(
  given: Map<string, unknown>,
  { parameters }: Pick<Operation, 'parameters'>,
  { deviceId, sender }: Pick<LinkHolder, 'deviceId' | 'sender'>,
): void {
  const refused = reserved.find((name) => given.has(name))
  if (refused) {
    throw new AppError(
      'credential_not_allowed',
      `The session of a one-time link acts on its own sender. Leave out ${refused}.`,
    )
  }
  if ('device_id' in parameters.shape) given.set('device_id', deviceId)
  else if ('sender' in parameters.shape) given.set('sender', sender)
}
