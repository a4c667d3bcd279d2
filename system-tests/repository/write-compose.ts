import { writeFileSync } from 'node:fs'
import { composeFile, withSettings } from './compose-settings.ts'

writeFileSync(composeFile, withSettings())
