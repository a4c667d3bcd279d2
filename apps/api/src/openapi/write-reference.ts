import { writeFileSync } from 'node:fs'
import { operations } from '../operations.ts'
import { makeErrorPage } from './error-page.ts'
import { makeReference } from './reference.ts'

const docs = new URL('../../../../docs/', import.meta.url)
writeFileSync(new URL('api.md', docs), makeReference(operations))
writeFileSync(new URL('errors.md', docs), makeErrorPage())
