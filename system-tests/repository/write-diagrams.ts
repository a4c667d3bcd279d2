import { readFileSync, writeFileSync } from 'node:fs'
import { withDiagrams } from './state-diagrams.ts'

const page = new URL('../../docs/architecture.md', import.meta.url)
writeFileSync(page, withDiagrams(readFileSync(page, 'utf8')))
