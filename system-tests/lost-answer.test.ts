import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { openSystemBehindProxy } from './behind-proxy.ts'

const sender = '15552008001'
const number = '15552008002'
/** Of the statement that stores an upload and deletes what was uploaded. */
const storing = 'DELETE FROM media_blobs USING fence'

it('a file of a data: URL is sent when the answer of Postgres to its upload is lost', async () => {
  let storingOn = 0
  let isExecuted = false
  const never = new Promise<void>(() => undefined)
  // The text of a statement comes first, and with the next piece it is executed.
  const { gateway, database, postgres, close } = await openSystemBehindProxy(
    (chunk, { connection, isAnswer }) => {
      if (storingOn === 0 && chunk.includes(storing)) storingOn = connection
      else if (connection === storingOn && !isAnswer) isExecuted = true
      return connection === storingOn && isExecuted && isAnswer ? never : undefined
    },
  )
  try {
    await gateway.link(sender)
    const file = mediaSamples.find(({ type }) => type === 'document')?.bytes ?? Buffer.alloc(0)
    const url = `data:application/pdf;base64,${file.toString('base64')}`
    const { body } = await gateway.call('send-media', { sender, number, type: 'document', url })
    const id = String(body.message_id)
    await until('the upload is stored', async () => {
      const [row] = await database.$client`
        SELECT FROM messages WHERE id = ${id} AND uploaded_content IS NOT NULL
          AND NOT EXISTS (SELECT FROM media_blobs WHERE message_id = ${id})`
      return row !== undefined
    })
    expect(isExecuted).toBe(true)
    postgres?.cut()
    postgres?.heal()
    const ended = await until('it has ended', async () => {
      const message = await gateway.messageStatus(id)
      return ['delivered', 'failed'].includes(message.status) && message
    })
    expect(ended).toMatchObject({ status: 'delivered', error_code: null })
    expect(await gateway.phone(number, sender)).toMatchObject([{ duplicates: 0 }])
  } finally {
    await close()
  }
}, 60_000)
