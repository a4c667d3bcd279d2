import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { messageMoves } from '../src/message-states.ts'
import { messages } from '../src/schema/messages.ts'

/** As docs/architecture.md shows it. Moves between the same two states share an arrow. */
function drawStates(): string {
  const names = new Map<string, string[]>([['[*] --> queued', ['accept (caller)']]])
  for (const [name, { by, from, to }] of Object.entries(messageMoves)) {
    for (const state of from) {
      if (state === to) continue
      const arrow = `${state} --> ${to}`
      names.set(arrow, [...(names.get(arrow) ?? []), `${name} (${by})`])
    }
  }
  const arrows = [...names].map(([arrow, moves]) => `    ${arrow}: ${moves.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n')
}

test('docs/architecture.md shows the states of a message as they are: the expected text replaces its diagram', () => {
  const page = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8')
  const [shown] = /```mermaid\nstateDiagram-v2\n.*?```/s.exec(page) ?? []
  expect(shown).toBe(drawStates())
})

test('the column that claims and sweeps ask is true in the states that they move', () => {
  const generated = messages.isWaiting.generated?.as
  const [, list = ''] = /IN \((.*)\)/.exec(JSON.stringify(generated)) ?? []
  const states = list.split(', ').map((state) => state.replaceAll("'", ''))
  expect([states, states]).toEqual([messageMoves.claim.from, messageMoves.sweep.from])
})
