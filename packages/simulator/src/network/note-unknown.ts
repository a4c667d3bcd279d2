import { type Node, outline } from '../wire/node.ts'
import type { Network } from './network.ts'

/** Counts what a client did that the simulator does not implement, or that no client of WhatsApp does, and keeps its stanza. */
export function noteUnknown(
  { counters, unknown }: Network,
  { kind, sender, stanza }: { kind: string; sender: string; stanza?: Node },
): void {
  counters.unknown[kind] = (counters.unknown[kind] ?? 0) + 1
  unknown.add({ t: new Date().toISOString(), sender, kind, stanza: stanza ? outline(stanza) : null })
}
