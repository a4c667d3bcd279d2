import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { type CpuProfile, summarizeProfile } from './profile-summary.ts'

/** Profiles a worker while it sends, without its start. */
export type WorkerProfiler = {
  environment: NodeJS.ProcessEnv
  start(pid: number): Promise<void>
  stop(pid: number): Promise<void>
  /** Of the last, and warmest, round. */
  summarize(): Promise<string[]>
}

export function makeWorkerProfiler(folder: string): WorkerProfiler {
  mkdirSync(folder, { recursive: true })
  const latest = join(folder, 'latest.cpuprofile')
  const probe = new URL('./probes/profile.mjs', import.meta.url).href
  let kept = 0
  return {
    environment: { NODE_OPTIONS: `--import ${probe}`, WAGATE_BENCH_FILE: latest },
    async start(pid) {
      process.kill(pid, 'SIGUSR2')
      await delay(50)
    },
    async stop(pid) {
      process.kill(pid, 'SIGUSR2')
      await until('the profile is written', { withinMs: 20_000, everyMs: 50 }, () => existsSync(latest))
      kept += 1
      renameSync(latest, join(folder, `worker-${kept}.cpuprofile`))
    },
    async summarize() {
      const file = join(folder, `worker-${kept}.cpuprofile`)
      const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
      return [`Profile ${file}:`, ...summarizeProfile(profile)]
    },
  }
}
