import { appendFileSync } from 'node:fs'
import { seed } from './size.ts'

/** What a trial showed, for people: a line on the terminal, and one of JSON in the file that FAULTS_FIGURES names. */
export function note(trial: string, figures: Record<string, number>): void {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${Math.round(value)}`)
  console.log(`${trial}: ${shown.join(', ')}`)
  const file = process.env.FAULTS_FIGURES
  if (file) appendFileSync(file, `${JSON.stringify({ trial, seed, ...figures })}\n`)
}
