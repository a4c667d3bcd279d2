// Answers WhatsApp messages. Environment: WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL, PORT.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

const { WAGATE_KEY = '', WEBHOOK_SECRET = '', PORT = '8000' } = process.env
const { WAGATE_URL = 'http://127.0.0.1:3000' } = process.env
const webhook = new Webhook(WEBHOOK_SECRET)

type Message = { message_id: string; sender: string; number: string | null; message: string | null }
type Event = { event_id: string; type: string; data: { message?: Message | null } }

createServer(async (request, response) => {
  try {
    const body = await text(request)
    await answer(webhook.verify(body, request.headers as Record<string, string>) as Event)
    response.writeHead(204).end()
  } catch (error) {
    console.error(error)
    // What is not answered with 2xx is delivered again.
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 502).end()
  }
}).listen(Number(PORT), '127.0.0.1')

async function answer({ event_id, type, data: { message } }: Event): Promise<void> {
  if (type !== 'message.received' || !message?.number || !message.message) return
  const { sender, number, message_id: reply_to } = message
  const reply = /price/i.test(message.message) ? 'The price is 12.50 EUR.' : 'Thank you for your message.'
  const response = await fetch(`${WAGATE_URL}/send-message`, {
    method: 'POST',
    // An event may be delivered more than once. The gateway sends once under a key.
    headers: {
      'content-type': 'application/json',
      'x-api-key': WAGATE_KEY,
      'idempotency-key': `answer-${event_id}`,
    },
    body: JSON.stringify({ sender, number, message: reply, reply_to }),
    signal: AbortSignal.timeout(10_000),
  })
  if (!response.ok) throw new Error(`send-message answered ${response.status}: ${await response.text()}`)
}
