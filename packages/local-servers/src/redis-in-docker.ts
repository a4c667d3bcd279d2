import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { RedisProgram, RedisSearch } from './redis-program.ts'

const image = 'redis:7'

export function findRedisInDocker(search: RedisSearch): RedisProgram | undefined {
  const engine = spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 5000 })
  if (engine.status !== 0) return undefined
  search.report(`Starting Redis in docker (${image})`)
  return {
    source: `${image} in docker`,
    keepsData: true,
    command({ folder, port }) {
      const name = `wagate-redis-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`
      spawnSync('docker', ['rm', '--force', name])
      const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`
      const container = ['run', '--rm', '--name', name, '--user', user, '--volume', `${folder}:/data`]
      const server = ['redis-server', '/data/redis.conf', '--bind', '0.0.0.0', '--port', '6379']
      const args = [...container, '--publish', `127.0.0.1:${port}:6379`, image, ...server]
      return { command: 'docker', args, env: process.env }
    },
  }
}
