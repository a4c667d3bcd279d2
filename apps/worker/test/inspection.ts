import { readFileSync } from 'node:fs'
import { makeLogger } from '@wagate/runtime/logger'
import { type Inspector, makeInspector } from '../src/media/inspection/inspector.ts'

/** As a worker from source starts its own. */
export const nodeOptions = [
  '--import',
  new URL('../../../scripts/typescript.mjs', import.meta.url).href,
  '--conditions=source',
]

export function makeTestInspector(options: { timeoutMs?: number } = {}): Inspector {
  return makeInspector({ logger: makeLogger('worker', 'silent'), nodeOptions, ...options })
}

/** The processes that this one has started for inspections: one, or none. */
export function inspectionPids(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return children
    .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('inspection-main'))
    .map(Number)
}
