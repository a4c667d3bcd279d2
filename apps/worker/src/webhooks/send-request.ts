import { signWebhook } from '@wagate/shared/webhook-signature'
import type { Outcome } from './conclude-round.ts'
import { bodyOf, type DeliveryRequest } from './delivery-request.ts'
import type { DispatcherContext } from './dispatcher-context.ts'
import { postDelivery } from './post-delivery.ts'
import { secretsAt, type WebhookState } from './webhook-state.ts'

/** Makes one attempt, and notes what came of it in the state. Never throws. */
export async function sendRequest(
  { guard, limits, metrics }: DispatcherContext,
  state: WebhookState,
  request: DeliveryRequest,
): Promise<Outcome> {
  const body = bodyOf(request, state)
  const post = { url: state.url, accountId: state.accountId, headers: headersOf(state, request, body), body }
  const answer = await postDelivery(post, { deadlineMs: limits.requestMs, guard })
  const result = resultOf(answer.status)
  if (result === 'taken') state.circuit.succeed()
  else state.circuit.fail(performance.now(), answer.retryAfterMs)
  state.log.add(request, answer, result === 'taken')
  metrics.requests.inc({ result })
  return { result, retryAfterMs: answer.retryAfterMs }
}

function headersOf(state: WebhookState, { id }: DeliveryRequest, body: string) {
  const timestampSeconds = Math.floor(Date.now() / 1000)
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'wagate',
    'webhook-id': id,
    'webhook-timestamp': timestampSeconds,
    'webhook-signature': signWebhook(secretsAt(state, timestampSeconds), { id, timestampSeconds, body }),
  }
}

/** A redirect is a failure: its target is not the one that the account has registered. */
function resultOf(status: number | null): Outcome['result'] {
  if (status === 410) return 'gone'
  return status !== null && status >= 200 && status < 300 ? 'taken' : 'failed'
}
