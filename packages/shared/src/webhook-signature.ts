import { createHmac, randomBytes } from 'node:crypto'

/*
 * Signatures of https://www.standardwebhooks.com: HMAC-SHA256 of `id.timestamp.body` with the bytes of a secret that is
 * written as `whsec_` and base64.
 */

const prefix = 'whsec_'
const secretBytes = 32

export function makeWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

/** The box of a secret does not open for another webhook. */
export function webhookSecretContext(webhookId: number): string {
  return `secret of webhook ${webhookId}`
}

export type SignedRequest = { id: string; timestampSeconds: number; body: string }

/** The value of `webhook-signature`: one signature for each secret. */
export function signWebhook(secrets: string[], { id, timestampSeconds, body }: SignedRequest): string {
  const signed = `${id}.${timestampSeconds}.${body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  })
  return signatures.join(' ')
}
