import { setTimeout as delay } from 'node:timers/promises'
import { growingPauseMs } from '@wagate/runtime/growing-pause'
import type { Logger } from '@wagate/runtime/logger'
import { makeSemaphore } from '@wagate/runtime/semaphore'
import { createTransport } from 'nodemailer'
import type { Counter } from 'prom-client'
import type { Mail } from './mails.ts'

export type Mailer = {
  /**
   * Makes and sends a mail in the background: whether and when it leaves must not be told to who has asked for it. Without
   * a mail there is nothing to send.
   */
  send(prepare: () => Promise<Mail | undefined>): void
  /** Tries the waiting mails once more, for a few seconds. */
  finish(): Promise<void>
}

type Options = {
  smtpUrl: string
  from: string
  log: Logger
  metrics: { mails: Counter<'kind' | 'outcome'> }
}

/** Mails wait in memory, because their links are stored only as hashes. If the process dies, people ask for them again. */
const waitingMax = 1000
const atOnceMax = 4
const attemptMs = 20_000
const pauses = { firstMs: 1000, maxMs: 60_000 }
/** About fifteen minutes. People do not wait longer before they ask again. */
const attemptsMax = 18
const finishMs = 3000

export function makeMailer({ smtpUrl, from, log, metrics }: Options): Mailer {
  const server = parseSmtpUrl(smtpUrl)
  const transport = createTransport({
    ...server,
    connectionTimeout: attemptMs,
    greetingTimeout: attemptMs,
    socketTimeout: attemptMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const slots = makeSemaphore(atOnceMax)
  const pausing = new AbortController()
  const ending = new AbortController()
  const waiting = new Set<Promise<void>>()

  async function post({ to, subject, text }: Mail): Promise<void> {
    const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(attemptMs)])
    await transport.sendMail({ from, to: { name: '', address: to }, subject, text, signal, ...automatic })
  }

  async function deliver(prepare: () => Promise<Mail | undefined>): Promise<void> {
    let mail: Mail | undefined
    const attempt = async () => {
      const release = await slots.acquire(1, ending.signal)
      try {
        mail ??= await prepare()
        if (mail) await post(mail)
      } finally {
        release()
      }
    }
    for (let failures = 1; ; failures += 1) {
      try {
        await attempt()
        if (mail) metrics.mails.inc({ kind: mail.kind, outcome: 'sent' })
        return
      } catch (error) {
        if (isFinal(error) || failures >= attemptsMax || pausing.signal.aborted) {
          lose(mail?.kind ?? 'unknown', error)
          return
        }
        if (failures === 1) log.warn({ reason: reasonOf(error) }, 'Cannot send mails, trying again')
        await delay(growingPauseMs(failures, pauses), undefined, { signal: pausing.signal }).catch(() => {})
      }
    }
  }

  function lose(kind: string, error: unknown): void {
    metrics.mails.inc({ kind, outcome: 'failed' })
    log.error({ reason: reasonOf(error), kind }, 'A mail was not sent')
  }

  return {
    send(prepare) {
      if (waiting.size >= waitingMax) {
        lose('unknown', { code: 'too many wait' })
        return
      }
      const delivered = deliver(prepare).finally(() => waiting.delete(delivered))
      waiting.add(delivered)
    },
    async finish() {
      pausing.abort()
      const timer = setTimeout(() => ending.abort(), finishMs)
      await Promise.all(waiting)
      clearTimeout(timer)
      transport.close()
    },
  }
}

/** So that programs which answer mails do not answer these. */
const automatic = { headers: { 'Auto-Submitted': 'auto-generated' } }

function parseSmtpUrl(text: string) {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = url.protocol === 'smtps:'
  const [user, pass] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const isLocal = host === 'localhost' || host === '::1' || host.startsWith('127.')
  return {
    host,
    port: Number(url.port || (secure ? 465 : 587)),
    secure,
    // A password, and links that open accounts, are for this server alone.
    requireTLS: !secure && !isLocal && user !== '',
    ignoreTLS: !secure && isLocal,
    ...(user && { auth: { user, pass } }),
  }
}

/** `originalCode` is that of Node, such as ECONNREFUSED or ENOTFOUND, or what is wrong with the certificate. */
type SmtpError = { code?: unknown; originalCode?: unknown; responseCode?: unknown }

/** Refused for this mail, such as an address that does not exist. Not a login that fails: an operator mends that. */
function isFinal(error: unknown): boolean {
  const { code, responseCode } = error as SmtpError
  return code === 'EENVELOPE' && typeof responseCode === 'number' && responseCode >= 500
}

/** Never the message of the server, which may contain the address and our text. */
function reasonOf(error: unknown): string {
  const { code, originalCode, responseCode } = error as SmtpError
  return [code, originalCode, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown'
}
