import { hostname } from 'node:os'
import { readEnv } from '@wagate/shared/env'
import { settings } from '@wagate/shared/settings'

const {
  PORT: _port,
  TRUST_PROXY: _trustProxy,
  ALLOW_QUERY_API_KEY: _allowQueryApiKey,
  ...workerSettings
} = settings

const shape = {
  ...workerSettings,
  WORKER_NAME: settings.WORKER_NAME.default(hostname),
}

export type Config = ReturnType<typeof readEnv<typeof shape>>

/** Throws one Error that names every bad variable. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const config = readEnv(shape, env)
  // One heartbeat may fail, and the lease is still renewed in time.
  if (config.HEARTBEAT_MS >= config.LEASE_TTL_MS / 2) {
    throw new Error(
      'The configuration is not usable:\n  HEARTBEAT_MS: must be less than half of LEASE_TTL_MS',
    )
  }
  return config
}
