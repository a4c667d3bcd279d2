import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { operations } from '../operations.ts'
import { makeErrorPage } from './error-page.ts'
import { makeEventPage } from './event-page.ts'
import { makeEventSchemas } from './event-schemas.ts'
import { makeReference } from './reference.ts'

const docs = new URL('../../../../docs/', import.meta.url)
writeFileSync(new URL('api.md', docs), makeReference(operations))
writeFileSync(new URL('errors.md', docs), makeErrorPage())
writeFileSync(new URL('event-types.md', docs), makeEventPage())

const schemas = new URL('events/', docs)
rmSync(schemas, { recursive: true, force: true })
mkdirSync(schemas)
for (const [name, text] of makeEventSchemas()) writeFileSync(new URL(name, schemas), text)
