import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { Logger } from '@wagate/runtime/logger'

/** How to connect to a DATABASE_URL: its address without the TLS parameters, and the settings that they specify. */
type TlsSettings = {
  url: string
  ssl: false | ConnectionOptions
  /** Encrypted, but without proof of the server's identity. */
  isUnauthenticated: boolean
}

/**
 * `sslmode` as in libpq: `require` encrypts, `verify-ca` also requires a certificate of a known authority, and
 * `verify-full` one for this host name. `sslrootcert` is a file with the authorities. Without it, Node's authorities
 * apply, including NODE_EXTRA_CA_CERTS. The modes that fall back to plain text are refused.
 */
export function readTlsSettings(databaseUrl: string): TlsSettings {
  const url = new URL(databaseUrl)
  if (url.hostname.includes(',')) throw new Error('DATABASE_URL must name one host.')
  const mode = takeParameter(url, 'sslmode') ?? takeParameter(url, 'ssl') ?? 'disable'
  const authorities = takeParameter(url, 'sslrootcert')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Both are set here, because postgres.js sets them only for sockets that it has created itself.
  const server = { host, ...(isIP(host) === 0 && { servername: host }) }
  const verified = { ...server, ...(authorities && { ca: readFileSync(authorities) }) }
  const common = { url: url.href, isUnauthenticated: false }
  switch (mode) {
    case 'disable':
    case 'false':
      return { ...common, ssl: false }
    case 'require':
    case 'true':
      if (authorities) return { ...common, ssl: { ...verified, checkServerIdentity: () => undefined } }
      return { ...common, ssl: { ...server, rejectUnauthorized: false }, isUnauthenticated: true }
    case 'verify-ca':
      return { ...common, ssl: { ...verified, checkServerIdentity: () => undefined } }
    case 'verify-full':
      return { ...common, ssl: verified }
    default:
      throw new Error('DATABASE_URL: sslmode must be disable, require, verify-ca or verify-full.')
  }
}

/** Call it when a process starts. */
export function warnOfUnauthenticatedTls(databaseUrl: string, logger: Pick<Logger, 'warn'>): void {
  if (!readTlsSettings(databaseUrl).isUnauthenticated) return
  logger.warn(
    'Postgres is not authenticated with sslmode=require. Use sslmode=verify-full (docs/security.md).',
  )
}

function takeParameter(url: URL, name: string): string | undefined {
  const value = url.searchParams.get(name)
  url.searchParams.delete(name)
  return value ?? undefined
}
