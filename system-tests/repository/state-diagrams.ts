import { messageMoves } from '@wagate/db/message-states'
import { handMoves } from '@wagate/worker/outbox/message-hands'

type Moves = { [name: string]: { by?: string; from: readonly string[]; to: string } }

/** As Mermaid. Moves between the same two states share an arrow. */
function draw(moves: Moves): string {
  const names = new Map<string, string[]>()
  for (const [name, { by, from, to }] of Object.entries(moves)) {
    for (const state of from) {
      if (state === to) continue
      const arrow = `${state} --> ${to}`
      names.set(arrow, [...(names.get(arrow) ?? []), by ? `${name} (${by})` : name])
    }
  }
  const arrows = [...names].map(([arrow, labels]) => `    ${arrow}: ${labels.join(', ')}`)
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n')
}

/** In the order of the page. */
const diagrams = () => [
  draw({ accept: { by: 'caller', from: ['[*]'], to: 'queued' }, ...messageMoves }),
  draw({ read: { from: ['[*]'], to: 'waiting' }, ...handMoves }),
]

/** The text of docs/architecture.md with the diagrams of the states as they are in the code. */
export function withDiagrams(page: string): string {
  const drawn = diagrams()
  return page.replaceAll(/```mermaid\nstateDiagram-v2\n.*?```/gs, () => {
    const diagram = drawn.shift()
    if (diagram === undefined) throw new Error('docs/architecture.md has a diagram that no code has')
    return diagram
  })
}
