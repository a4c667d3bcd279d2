import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Logger } from '@wagate/runtime/logger'

/** How to connect to a DATABASE_URL: its address without the parameters of TLS, and what they ask for. */
type TlsSettings = {
  url: string
  ssl: false | ConnectionOptions
  /** Encrypted, but whoever answers is believed to be the server. */
  isUnauthenticated: boolean
}

/**
 * `sslmode` as in libpq: `require` encrypts, `verify-ca` also wants a certificate of a known authority, and
 * `verify-full` one for this host name as well. `sslrootcert` is a file with the authorities; without it those that
 * Node knows count, with NODE_EXTRA_CA_CERTS. The modes that fall back to plain text are refused.
 */
export function readTlsSettings(databaseUrl: string): TlsSettings {
  const url = new URL(databaseUrl)
  const mode = takeParameter(url, 'sslmode') ?? takeParameter(url, 'ssl') ?? 'disable'
  const authorities = takeParameter(url, 'sslrootcert')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Both by hand: postgres.js takes them from a socket that it has made, which ours are not.
  const server = { host, ...(isIP(host) === 0 && { servername: host }) }
  const verified = { ...server, ...(authorities && { ca: readFileSync(authorities) }) }
  const settled = { url: url.href, isUnauthenticated: false }
  switch (mode) {
    case 'disable':
    case 'false':
      return { ...settled, ssl: false }
    case 'require':
    case 'true':
      if (authorities) return { ...settled, ssl: { ...verified, checkServerIdentity: () => undefined } }
      return { ...settled, ssl: { ...server, rejectUnauthorized: false }, isUnauthenticated: true }
    case 'verify-ca':
      return { ...settled, ssl: { ...verified, checkServerIdentity: () => undefined } }
    case 'verify-full':
      return { ...settled, ssl: verified }
    default:
      throw new Error('DATABASE_URL: sslmode must be disable, require, verify-ca or verify-full.')
  }
}

/** For the start of a process. */
export function warnOfUnauthenticatedTls(databaseUrl: string, logger: Pick<Logger, 'warn'>): void {
  if (!readTlsSettings(databaseUrl).isUnauthenticated) return
  logger.warn('sslmode=require does not authenticate Postgres. Use sslmode=verify-full (docs/security.md).')
}

function takeParameter(url: URL, name: string): string | undefined {
  const value = url.searchParams.get(name)
  url.searchParams.delete(name)
  return value ?? undefined
}
