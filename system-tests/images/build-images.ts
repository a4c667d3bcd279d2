import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '@wagate/devnet/app-process'
import { type Instruction, parseDockerfile, type Stage } from './dockerfile.ts'

/** What an image would run, and where its files are. */
export type Image = { folder: string; env: Record<string, string>; command: string[] }

type Built = Image & { root: string }

type Building = Map<string, Promise<Built>>

const run = promisify(execFile)
const writing = new Set(['COPY', 'RUN', 'WORKDIR'])

/**
 * Carries out the Dockerfile without Docker: each stage is a folder, and its RUN lines run on this machine, as this
 * user. Shows that every file an image needs is copied into it; not what the base image holds.
 */
export async function buildImages(folder: string, targets: string[]): Promise<Map<string, Image>> {
  const stages = parseDockerfile(await readFile(join(repository, 'Dockerfile'), 'utf8'))
  const needed = stagesFor(stages, targets)
  // Each waits for the stages that it uses, which come before it.
  const building: Building = new Map()
  for (const stage of stages) {
    if (needed.has(stage.name))
      building.set(stage.name, buildStage(join(folder, stage.name), stage, building))
  }
  return new Map(await Promise.all([...building].map(async ([name, image]) => [name, await image] as const)))
}

function stagesFor(stages: Stage[], targets: string[]): Set<string> {
  const needed = new Set(targets)
  for (const { name, from, instructions } of stages.toReversed()) {
    if (!needed.has(name)) continue
    needed.add(from)
    for (const { rest } of instructions) {
      const source = /--from=(\S+)/.exec(rest)?.[1]
      if (source) needed.add(source)
    }
  }
  return needed
}

async function buildStage(root: string, stage: Stage, building: Building): Promise<Built> {
  const image = await beginStage(root, stage, await building.get(stage.from))
  for (const instruction of stage.instructions) await carryOut(instruction, image, building)
  return image
}

async function beginStage(root: string, { instructions }: Stage, base: Built | undefined): Promise<Built> {
  // Several hundred megabytes are not copied for a stage that only says what to run.
  if (base && !instructions.some(({ name }) => writing.has(name))) return { ...base, env: { ...base.env } }
  await mkdir(root, { recursive: true })
  if (!base) return { root, folder: root, env: {}, command: [] }
  await cp(base.root, root, { recursive: true, verbatimSymlinks: true })
  return { ...base, root, folder: join(root, base.folder.slice(base.root.length)), env: { ...base.env } }
}

async function carryOut({ name, rest }: Instruction, image: Built, building: Building): Promise<void> {
  switch (name) {
    case 'WORKDIR':
      image.folder = join(image.root, rest)
      await mkdir(image.folder, { recursive: true })
      return
    case 'ENV':
      for (const [, variable = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) image.env[variable] = value
      return
    case 'COPY':
      return copyInto(image, rest, building)
    case 'RUN':
      return runIn(image, rest)
    case 'CMD':
      image.command = JSON.parse(rest)
      return
    case 'ARG':
    case 'EXPOSE':
    case 'HEALTHCHECK':
    case 'LABEL':
    case 'STOPSIGNAL':
    case 'USER':
      return
    default:
      throw new Error(`The Dockerfile has an instruction that is not known here: ${name}`)
  }
}

async function copyInto(image: Built, rest: string, building: Building): Promise<void> {
  const words = rest.split(/\s+/)
  const stage = words.find((word) => word.startsWith('--from='))?.slice('--from='.length)
  const paths = words.filter((word) => !word.startsWith('--'))
  const target = join(image.folder, paths.pop() ?? '')
  const from = stage === undefined ? repository : ((await building.get(stage))?.root ?? '')
  const isIgnored = stage === undefined ? await readIgnored() : () => false
  for (const path of paths) {
    const source = join(from, path)
    const isFolder = (await stat(source)).isDirectory()
    const isInto = !isFolder && (paths.length > 1 || rest.endsWith('/'))
    await cp(source, isInto ? join(target, basename(path)) : target, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !isIgnored(file),
    })
  }
}

/** The patterns of .dockerignore are names, some of them at any depth. */
async function readIgnored(): Promise<(file: string) => boolean> {
  const patterns = (await readFile(join(repository, '.dockerignore'), 'utf8')).split('\n').filter(Boolean)
  const names = patterns.map((pattern) => pattern.replace(/^\*\*\//, ''))
  return (file) =>
    names.some((name) => {
      const part = basename(file)
      return name.endsWith('*') ? part.startsWith(name.slice(0, -1)) : part === name
    })
}

async function runIn(image: Built, command: string): Promise<void> {
  // A user of the base image, which this machine does not have.
  if (command.includes('node:node')) return
  const prefix = join(image.root, 'usr/local')
  const env = {
    ...process.env,
    ...image.env,
    CI: 'true',
    npm_config_prefix: prefix,
    PATH: `${join(prefix, 'bin')}:${process.env.PATH}`,
  }
  await run('sh', ['-ec', command], { cwd: image.folder, env, maxBuffer: 2 ** 26 })
}
