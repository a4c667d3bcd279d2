import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { operatorCommands } from '@wagate/shared/operator-commands'
import { settings } from '@wagate/shared/settings'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { codeBlocksOf, inlineCodeOf, readPages } from './pages.ts'

// system-tests/readme.test.ts runs the commands of the README. This file checks what cannot run in a test (Docker, long
// suites, other people's servers): that every script, file, test, benchmark, subcommand and service exists.

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const pages = readPages()
const scripts = Object.keys(JSON.parse(read('package.json')).scripts)
const services = Object.keys(parse(read('docker-compose.yml'), { merge: true }).services)
const benchmarks = read('bench/src/main.ts')

/** Every command line of a page: those of its shell blocks, and code in a sentence that begins with a program. */
function commandsOf(page: string): string[] {
  const blocks = codeBlocksOf(page).filter(({ language }) => language === 'sh')
  const lines = blocks.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, ' ').split('\n'))
  const inline = inlineCodeOf(page).filter((code) =>
    /^([A-Z_]+=\S* )*(npm|npx|node|docker|bench) /.test(code),
  )
  return [...lines, ...inline].map((line) => line.replace(/(^|\s+)#.*$/, '').trim()).filter(Boolean)
}

const commands = [...new Set([...pages.values()].flatMap(commandsOf))]

function argumentsOf(pattern: RegExp): string[] {
  return [...new Set(commands.flatMap((line) => [...line.matchAll(pattern)].map(([, found = '']) => found)))]
}

/** `atLeast` fails if a change of the pages or of the pattern leaves nothing to check. */
function expectAll(found: string[], atLeast: number, isRight: (name: string) => boolean): void {
  expect(found.length).toBeGreaterThanOrEqual(atLeast)
  expect(found.filter((name) => !isRight(name))).toEqual([])
}

test('every shell block of a page is valid Bash', () => {
  const blocks = [...pages].flatMap(([page, text]) =>
    codeBlocksOf(text)
      .filter(({ language }) => language === 'sh')
      .map((block) => ({ page, text: block.text })),
  )
  expect(blocks.length).toBeGreaterThan(15)
  for (const { page, text } of blocks) {
    // The URL of the repository is not known here.
    const input = text.replace('<this repository>', 'https://example.com/wagate.git')
    expect(() => execFileSync('bash', ['-n'], { input, stdio: 'pipe' }), page).not.toThrow()
  }
})

test('every npm script in a command exists', () => {
  const own = ['start', 'test', 'install', 'ci']
  expectAll(argumentsOf(/\bnpm (?:run )?(?:--silent |-s )?([\w:-]+)/g), 8, (name) =>
    own.includes(name) ? true : scripts.includes(name),
  )
})

test('every file that Node runs in a command exists', () => {
  expectAll(argumentsOf(/\bnode ([\w./-]+\.m?js)/g), 4, (path) =>
    existsSync(join(repository, path.replace('/dist/', '/src/').replace(/(?<=src\/.*)\.js$/, '.ts'))),
  )
})

test('every subcommand of wagate in a command exists', () => {
  const found = argumentsOf(/(?:scripts\/wagate\.mjs|dist\/cli\.js) ([a-z][a-z-]+(?: [a-z]+)?)/g)
  expectAll(found, 6, (name) =>
    operatorCommands.some(({ call }) => call === name || call.startsWith(`${name} `)),
  )
})

test('every benchmark in a command exists', () => {
  const found = argumentsOf(/(?:bench\/run\.mjs|npm run bench --|^bench) ([a-z][\w-]*)/g)
  expectAll(found, 3, (name) => new RegExp(`^ +'?${name}'?: async`, 'm').test(benchmarks))
})

test('every test file or folder in a command exists', () => {
  const found = argumentsOf(/npm test -- ([\w/-]+)/g)
  expectAll(found, 8, (path) => {
    const folder = path.replace(/\/[^/]*$/, '')
    const names = existsSync(join(repository, folder)) ? readdirSync(join(repository, folder)) : []
    return existsSync(join(repository, path)) || names.some((name) => `${folder}/${name}`.startsWith(path))
  })
})

test('every service of docker compose in a command exists', () => {
  const found = argumentsOf(/docker compose (?:exec(?: -T)?|run --rm|stop|up --build) ([a-z][a-z ]*)/g)
  const names = found.flatMap((text) => text.split(' ').slice(0, text.startsWith('api worker') ? 3 : 1))
  expectAll(names, 4, (name) => services.includes(name))
})

test('every setting in a command is one of the gateway, of Compose, of the tests or of an example', () => {
  const known = [...Object.keys(settings), ...read('.env.example').matchAll(/\b[A-Z]+_?[A-Z_]*\b/g)].map(
    String,
  )
  const others = [
    'KEY',
    'OLD',
    'QR',
    'SENDER',
    'FAULTS',
    'FAULTS_SEED',
    'MODEL_SEED',
    'FUZZ_SEED',
    'TEST_SECONDS',
  ]
  const ofExamples = ['WAGATE_KEY', 'WEBHOOK_SECRET']
  expectAll(argumentsOf(/(?:^|[\s({])([A-Z][A-Z_]+)=/g), 4, (name) =>
    [...known, ...others, ...ofExamples].includes(name),
  )
})
