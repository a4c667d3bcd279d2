import { serve } from '@hono/node-server'
import { Queue } from 'bullmq'
import { Hono } from 'hono'
import { Redis } from 'ioredis'

/** The servers that the API is compared with: `hello` does nothing, `redis` adds the message to a BullMQ queue. */
const [kind, redisUrl = ''] = process.argv.slice(2)
const app = new Hono()

if (kind === 'hello') {
  app.post('/send-message', (c) => c.json({ ok: true }))
} else {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null })
  const queue = new Queue('yardstick', { connection, prefix: '{yardstick}' })
  app.post('/send-message', async (c) => {
    const { sender, number, message } = await c.req.json<Record<string, unknown>>()
    if (typeof sender !== 'string' || typeof number !== 'string' || typeof message !== 'string') {
      return c.json({ ok: false }, 400)
    }
    const { id } = await queue.add('send', { sender, number, message }, { removeOnComplete: true })
    return c.json({ ok: true, message_id: id, status: 'queued' })
  })
}

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => process.send?.(port))
process.on('disconnect', () => process.exit())
if (!process.connected) process.exit()
