import { z } from 'zod'

/** A job for dispatchers. It carries an id only: what is to be delivered is in the database. */
export const webhookHintSchema = z.object({ webhookId: z.int().positive() })
