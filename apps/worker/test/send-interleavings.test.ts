import { expect, test } from 'vitest'
import { type Step, stepsFrom } from './send-steps.ts'
import { beginWorld, type World } from './send-world.ts'

const statesMax = 50_000

type Visit = { world: World; from: string | undefined; name: string }
type Scenario = { given: Partial<World>; refuses?: number[] }

/** What must be true in every state. Returns what is not. */
function faultIn({ states, arrived, canceled }: World): string | undefined {
  for (const [message, state] of states.entries()) {
    const hasArrived = arrived.includes(message)
    if (canceled.includes(message) && hasArrived) return `${message} is canceled, and a phone shows it`
    if (['sent', 'delivered', 'read'].includes(state) && !hasArrived)
      return `${message} is ${state}, and never left`
  }
  if (arrived.some((message, index) => message < (arrived[index - 1] ?? 0)))
    return 'a later message came first'
  return undefined
}

/** What must be true when nothing can happen any more. */
function faultAtEnd({ states, arrived }: World, refuses: number[]): string | undefined {
  for (const [message, state] of states.entries()) {
    if (state === 'queued' || state === 'sending') return `${message} is lost as ${state}`
    if (arrived.includes(message) && state !== 'delivered')
      return `a phone shows ${message}, and it is ${state}`
    if (state === 'failed' && !refuses.includes(message))
      return `${message} has failed, and nobody has refused it`
  }
  return undefined
}

/** Visits every state that can be reached. Throws with the shortest way to a fault. */
function explore({ given, refuses = [] }: Scenario): { states: number; ends: number } {
  const visits = new Map<string, Visit>()
  const queue: string[] = []
  const visit = ({ name, world }: Step, from: string | undefined) => {
    const key = JSON.stringify(world)
    if (visits.has(key)) return
    visits.set(key, { world, from, name })
    queue.push(key)
    if (queue.length > statesMax) throw new Error(`There is no end:\n${wayTo(key, visits).join('\n')}`)
    const fault = faultIn(world)
    if (fault) throw new Error(`${fault}:\n${wayTo(key, visits).join('\n')}`)
  }
  let ends = 0
  visit({ name: 'begin', world: beginWorld(given) }, undefined)
  for (let at = 0; at < queue.length; at++) {
    const key = queue[at] as string
    const { world } = visits.get(key) as Visit
    const steps = stepsFrom(world, refuses)
    if (steps.length === 0) {
      ends += 1
      const fault = faultAtEnd(world, refuses)
      if (fault) throw new Error(`${fault}:\n${wayTo(key, visits).join('\n')}`)
    }
    for (const step of steps) visit(step, key)
  }
  return { states: visits.size, ends }
}

function wayTo(key: string, visits: Map<string, Visit>): string[] {
  const way: string[] = []
  for (let at: string | undefined = key; at !== undefined; at = visits.get(at)?.from)
    way.unshift(visits.get(at)?.name ?? '')
  return way
}

test.each<[what: string, scenario: Scenario]>([
  ['faults', { given: { faults: 2 } }],
  ['a takeover', { given: { takeovers: 1, faults: 1 } }],
  ['a caller who cancels', { given: { callerCancels: [0], takeovers: 1, faults: 1 } }],
  ['the end of their time', { given: { timeIsOver: [0], takeovers: 1, faults: 1 } }],
  ['a refusal', { given: { callerCancels: [0], takeovers: 1, faults: 1 }, refuses: [0] }],
])('two messages keep the guarantees in every order of all steps, with %s', (_, scenario) => {
  const { states, ends } = explore(scenario)
  expect(states).toBeGreaterThan(500)
  expect(ends).toBeGreaterThan(0)
})
