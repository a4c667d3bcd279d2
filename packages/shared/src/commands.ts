import { z } from 'zod'

const deviceId = z.number().int().positive()

/**
 * What the API asks of a device's owner. A command is a hint ("rows are waiting", "the desired state
 * changed"), the database is the state: a lost, repeated or late command does no harm.
 */
export const commandSchema = z.discriminatedUnion('kind', [
  /** `announced`: its owner was woken without it. Commands of versions before the announcements lack it. */
  z.object({ kind: z.literal('send'), deviceId, announced: z.literal(true).optional() }),
  z.object({ kind: z.literal('start-session'), deviceId }),
  z.object({ kind: z.literal('end-session'), deviceId }),
  z.object({ kind: z.literal('apply-settings'), deviceId }),
  /**
   * The answer is an event for each number. Asked again until they come. `others` go into the same look-up. Workers of versions
   * before it answer `number` alone.
   */
  z.object({
    kind: z.literal('check-number'),
    deviceId,
    number: z.string(),
    others: z.array(z.string()).optional(),
  }),
  /** The same. A code that is still valid is the answer again. */
  z.object({ kind: z.literal('request-pairing-code'), deviceId }),
  /** The assertion is in Redis, and is read once. The answer is an event. */
  z.object({ kind: z.literal('submit-passkey'), deviceId }),
  /** The person has found the code of this device on the phone. The answer is an event, or the link. */
  z.object({ kind: z.literal('confirm-passkey'), deviceId }),
  z.object({ kind: z.literal('mark-read'), deviceId }),
])

export type Command = z.infer<typeof commandSchema>
type CommandKind = Command['kind']

/** One handler for each kind: a missing one does not compile. */
export type CommandHandlers = {
  [Kind in CommandKind]: (command: Extract<Command, { kind: Kind }>) => Promise<void>
}
