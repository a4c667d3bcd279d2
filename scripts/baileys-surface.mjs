// The surface of Baileys: what the worker uses of it, replaces or relies on. `baileys-surface.json` has that of our version.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { API } from 'typescript/unstable/sync'
import { listCode, listUnnamedHunks, readCode } from './baileys-code.mjs'
import { readTypes } from './baileys-types.mjs'
import { repository } from './run.mjs'
import { readHunks, unpatch } from './unpatch.mjs'

/** @typedef {{ baileys: string, symbols: Record<string, string> }} Surface */

const snapshot = join(repository, 'scripts/baileys-surface.json')

/** @returns {Surface} */
export const storedSurface = () => JSON.parse(readFileSync(snapshot, 'utf8'))

/** @param {Surface} surface */
export const storeSurface = (surface) => writeFileSync(snapshot, `${JSON.stringify(surface, null, 2)}\n`)

/**
 * One line for each symbol that is missing or different. Further ones change nothing for us.
 *
 * @param {Surface['symbols']} stored
 * @param {Surface['symbols']} found
 */
export function compareSurfaces(stored, found) {
  return Object.entries(stored).flatMap(([name, was]) => {
    const is = found[name]
    if (is === undefined) return [`removed: ${name} (${was})`]
    return is === was ? [] : [`changed: ${name} was ${was} is ${is}`]
  })
}

/**
 * The surface of the Baileys that is installed in a copy of the repository, for the sources of the worker in it.
 *
 * @param {string} root
 * @returns {Surface}
 */
export function readSurface(root) {
  const worker = join(root, 'apps/worker')
  const baileys = realpathSync(join(worker, 'node_modules/baileys'))
  const { version } = JSON.parse(readFileSync(join(baileys, 'package.json'), 'utf8'))
  const libsignal = dirname(createRequire(join(baileys, 'package.json')).resolve('libsignal/package.json'))
  const patch = join(root, `patches/baileys@${version}.patch`)
  const hunks = existsSync(patch) ? readHunks(readFileSync(patch, 'utf8')) : []
  const sources = listSources(join(worker, 'src'))
  const folder = mkdtempSync(join(tmpdir(), 'baileys-surface-'))
  const api = new API({ cwd: root })
  try {
    const code = listCode({ baileys, libsignal })
    for (const [file, path] of code) {
      const own = hunks.filter((hunk) => hunk.file === file)
      if (own.length > 0) code.set(file, writeUnpatched(folder, path, own))
    }
    const project = openProject(api, join(folder, 'tsconfig.json'), {
      extends: join(worker, 'tsconfig.json'),
      compilerOptions: {
        allowJs: true,
        composite: false,
        rootDir: '/',
        typeRoots: [join(root, 'node_modules/@types')],
      },
      files: [...sources, ...code.values()],
      include: [],
    })
    const parsed = new Map([...code].map(([file, path]) => [file, project.program.getSourceFile(path)]))
    const [unnamed] = listUnnamedHunks(parsed, hunks)
    if (unnamed) throw new Error(`Name what the patch changes in scripts/baileys-code.mjs:\n${unnamed.old}`)
    const protocol = readFileSync(join(baileys, 'WAProto/WAProto.proto'), 'utf8')
    const found = [...readTypes(project, sources), ...readCode(parsed, listEvents(sources), protocol)]
    const symbols = Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)))
    return { baileys: version, symbols }
  } finally {
    api.close()
    rmSync(folder, { recursive: true })
  }
}

/**
 * @param {API} api
 * @param {string} path
 * @param {object} config
 */
function openProject(api, path, config) {
  writeFileSync(path, JSON.stringify(config))
  const project = api.updateSnapshot({ openProjects: [path] }).getProject(path)
  if (!project) throw new Error('TypeScript has not opened the sources of the worker')
  return project
}

/**
 * The sources that can use Baileys: only two folders import it, and others reach it through a socket.
 *
 * @param {string} src
 */
function listSources(src) {
  const names = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const paths = names.sort().map((name) => join(src, name))
  return paths.filter(
    (path) => /\/src\/(session|preload)\//.test(path) || /\bsock\b|WASocket/.test(readFileSync(path, 'utf8')),
  )
}

/** @param {string[]} sources */
function listEvents(sources) {
  return new Set(sources.flatMap((path) => readFileSync(path, 'utf8').match(/(?<=')CB:[^']+(?=')/g) ?? []))
}

/**
 * @param {string} folder
 * @param {string} path
 * @param {ReturnType<typeof readHunks>} hunks
 */
function writeUnpatched(folder, path, hunks) {
  const copy = join(folder, basename(path))
  writeFileSync(copy, unpatch(readFileSync(path, 'utf8'), hunks))
  return copy
}
