import { formatTable } from './table.ts'

type ProfileNode = {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: number[]
}

/** The format of V8: samples are ids of nodes, each the innermost call of a stack. */
export type CpuProfile = { nodes: ProfileNode[]; samples: number[]; timeDeltas: number[] }

const linesMax = 25

/** Self time and total time by function, and self time by package. */
export function summarizeProfile({ nodes, samples, timeDeltas }: CpuProfile): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const own = new Map<string, number>()
  const total = new Map<string, number>()
  const packages = new Map<string, number>()
  let busyUs = 0
  for (const [index, sample] of samples.entries()) {
    const us = timeDeltas[index] ?? 0
    const node = byId.get(sample)
    if (!node || isIdle(node)) continue
    busyUs += us
    add(own, nameOf(node), us)
    add(packages, packageOf(node), us)
    const seen = new Set<string>()
    for (let at: number | undefined = sample; at !== undefined; at = parents.get(at)) {
      const caller = byId.get(at)
      if (caller) seen.add(nameOf(caller))
    }
    for (const name of seen) add(total, name, us)
  }
  return [
    table('Own time, % of what was busy', own, busyUs),
    table('With what it calls', total, busyUs),
    table('Own time by package', packages, busyUs),
  ]
}

function add(to: Map<string, number>, name: string, us: number): void {
  to.set(name, (to.get(name) ?? 0) + us)
}

function table(title: string, times: Map<string, number>, busyUs: number): string {
  const rows = [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, linesMax)
    .map(([where, us]) => ({
      '%': Number(((us / busyUs) * 100).toFixed(1)),
      ms: Math.round(us / 1000),
      where,
    }))
  return formatTable({ title, rows })
}

function isIdle({ callFrame }: ProfileNode): boolean {
  return ['(idle)', '(root)'].includes(callFrame.functionName)
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  return `${functionName || '(anonymous)'} ${shorten(url)}${url ? `:${lineNumber + 1}` : ''}`
}

function packageOf({ callFrame: { functionName, url } }: ProfileNode): string {
  if (!url) return functionName.startsWith('(') ? functionName : '(native)'
  if (url.startsWith('node:')) return 'node'
  const installed = url.split('/node_modules/').at(-1)
  if (installed !== undefined && url.includes('/node_modules/')) {
    return installed
      .split('/')
      .slice(0, installed.startsWith('@') ? 2 : 1)
      .join('/')
  }
  return /(apps|packages)\/[^/]+/.exec(url)?.[0] ?? url
}

function shorten(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(/^.*\/((apps|packages)\/)/, '$1')
}
