import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@wagate/test-kit/until'
import { type CpuProfile, summarizeProfile } from './profile-summary.ts'

/** Profiles a process while it sends, without its start. */
export type Profiler = {
  environment: NodeJS.ProcessEnv
  start(pid: number): Promise<void>
  /** Writes the profile of what was measured under this name. */
  stop(pid: number, name?: string): Promise<void>
  /** Of the last, and warmest, round of each name. */
  summarize(): Promise<string[]>
}

/** The environment of the processes of a system, where the one with this name is profiled. */
export function profiledEnvironment(
  profiler: Profiler | undefined,
  processName: string,
): (name: string) => NodeJS.ProcessEnv {
  return (name) => (name === processName && profiler ? profiler.environment : {})
}

export function makeProfiler(folder: string, processName = 'worker'): Profiler {
  mkdirSync(folder, { recursive: true })
  const latest = join(folder, `${processName}.cpuprofile`)
  const probe = new URL('./probes/profile.mjs', import.meta.url).href
  const latestOf = new Map<string, string>()
  let kept = 0
  return {
    environment: { NODE_OPTIONS: `--import ${probe}`, WAGATE_BENCH_FILE: latest },
    async start(pid) {
      process.kill(pid, 'SIGUSR2')
      await delay(50)
    },
    async stop(pid, name = '') {
      process.kill(pid, 'SIGUSR2')
      await until('the profile is written', { withinMs: 20_000, everyMs: 50 }, () => existsSync(latest))
      kept += 1
      const file = join(folder, `${processName}-${kept}.cpuprofile`)
      renameSync(latest, file)
      latestOf.set(name, file)
    },
    async summarize() {
      return [...latestOf].flatMap(([name, file]) => {
        const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile
        return [`Profile ${file}${name && `, ${name}`}:`, ...summarizeProfile(profile)]
      })
    },
  }
}
