import { writeFileSync } from 'node:fs'
import { operations } from '../operations.ts'
import { makeReference } from './reference.ts'

writeFileSync(new URL('../../../../docs/api.md', import.meta.url), makeReference(operations))
