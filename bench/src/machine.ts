import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { significant } from '@wagate/test-kit/statistics'

export type Machine = {
  cpu: string
  cores: number
  memoryGb: number
  system: string
  node: string
  /** Of the last minute and the last five. Above the number of cores, wall times mean little. */
  load: [number, number]
  at: string
}

export function describeMachine(): Machine {
  const [oneMinute = 0, fiveMinutes = 0] = loadavg()
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    load: [significant(oneMinute), significant(fiveMinutes)],
    at: new Date().toISOString(),
  }
}

export function formatMachine({ cpu, cores, memoryGb, system, node, load }: Machine): string {
  return `${cores} × ${cpu}, ${memoryGb} GB, ${system}, Node ${node}, load ${load.join(' / ')} (1 / 5 min)`
}
