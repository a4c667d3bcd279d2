import { SimulatorError } from './simulator-error.ts'

/** Throws for a field that has no meaning there: one that is misspelt would change what the rest of them mean. */
export function refuseUnknownFields(given: object, known: readonly string[], of: string): void {
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const names = known.length === 0 ? 'takes no fields' : `takes: ${known.join(', ')}`
  throw new SimulatorError(`Unknown: ${unknown.join(', ')}. ${of} ${names}.`)
}
