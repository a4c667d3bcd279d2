// Answers WhatsApp messages. Environment: WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL, PORT.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'

const { WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL = 'http://127.0.0.1:3000', PORT = '8000' } = process.env
if (!WAGATE_KEY || !WEBHOOK_SECRET) throw new Error('Set WAGATE_KEY and WEBHOOK_SECRET')

const secret = Buffer.from(WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64')
const toleranceSeconds = 300
const bodyBytesMax = 4 * 1024 * 1024
const rememberedMax = 10_000

type Message = { message_id: string; sender: string; number: string | null; message: string | null }
type WagateEvent = { event_id: string; type: string; data: { message?: Message | null } }

const answered = new Set<string>()

const server = createServer(async (request, response) => {
  const status = await handle(request).catch((error) => {
    console.error(error)
    return 502
  })
  response.writeHead(status).end()
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`Listening on port ${PORT}`))

/** Resolves to an HTTP status. A delivery that is not answered with 2xx comes again. */
async function handle(request: IncomingMessage): Promise<number> {
  const body = await readBody(request)
  if (body === undefined) return 413
  if (!isSigned(request, body)) return 401
  const content = JSON.parse(body.toString())
  for (const event of (content.events ?? [content]) as WagateEvent[]) await answer(event)
  return 204
}

async function answer({ event_id, type, data: { message } }: WagateEvent): Promise<void> {
  if (type !== 'message.received' || !message?.number || !message.message) return
  if (answered.has(event_id)) return
  const { sender, number, message_id } = message
  const reply = { sender, number, message: replyTo(message.message), reply_to: message_id }
  const response = await fetch(`${WAGATE_URL}/send-message`, {
    method: 'POST',
    // The gateway sends once under a key, also if this program ends before it has remembered the event.
    headers: {
      'content-type': 'application/json',
      'x-api-key': WAGATE_KEY ?? '',
      'idempotency-key': `answer-${event_id}`,
    },
    body: JSON.stringify(reply),
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`send-message answered ${response.status}: ${await response.text()}`)
  answered.add(event_id)
  for (const oldest of answered) if (answered.size > rememberedMax) answered.delete(oldest)
}

function replyTo(text: string): string {
  if (/\bprice\b/i.test(text)) return 'The price is 12.50 EUR.'
  return `You wrote: ${[...text].slice(0, 1000).join('')}`
}

/** Checks the headers of https://www.standardwebhooks.com over the bytes as they were received. */
function isSigned({ headers }: IncomingMessage, body: Buffer): boolean {
  const timestamp = String(headers['webhook-timestamp'])
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false
  const hmac = createHmac('sha256', secret).update(`${headers['webhook-id']}.${timestamp}.`).update(body)
  const expected = Buffer.from(`v1,${hmac.digest('base64')}`)
  const signatures = String(headers['webhook-signature'])
    .split(' ')
    .map((one) => Buffer.from(one))
  return signatures.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= bodyBytesMax) chunks.push(chunk)
  }
  return size <= bodyBytesMax ? Buffer.concat(chunks) : undefined
}
