import { spawnSync } from 'node:child_process'
import type { RedisProgram } from './redis-program.ts'

/** BullMQ needs 6.2. */
const oldest = [6, 2] as const

export function findRedisOnPath(): RedisProgram | undefined {
  for (const command of ['redis-server', 'valkey-server']) {
    const version = readVersion(command)
    if (!version) continue
    const [major = 0, minor = 0] = version.split('.').map(Number)
    if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) continue
    return {
      source: `${command} ${version} found on the PATH`,
      keepsData: true,
      command: () => ({ command, args: ['redis.conf'], env: process.env }),
    }
  }
  return undefined
}

/** Undefined when the program is missing or does not run. */
export function readVersion(command: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { stdout } = spawnSync(command, ['--version'], { env, encoding: 'utf8' })
  return /v=(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1]
}
