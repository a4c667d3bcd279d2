/** Loaded with --import: the process has Baileys as it is released, without our patch. */
import { readdirSync, readFileSync } from 'node:fs'
import { register } from 'node:module'

const patches = new URL('../../../patches/', import.meta.url)
const name = readdirSync(patches).find((file) => file.startsWith('baileys@'))
if (!name) throw new Error('There is no patch of Baileys')

register('./reverse-patch.ts', import.meta.url, { data: readFileSync(new URL(name, patches), 'utf8') })
