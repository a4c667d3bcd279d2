import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { Companion, linkedCompanion, newNumber } from './companion.ts'

/** A process from source takes seconds to start, more beside other tests. */
const options = { timeout: 90_000 }
const cleanups: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'wa-simulator-'))
  cleanups.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function start(stateDirectory?: string): Promise<Simulator> {
  const sim = await startSimulator(stateDirectory ? { stateDirectory } : {})
  cleanups.push(() => sim.close())
  return sim
}

test('knows its companions, and their sessions, after a restart with the same state', async () => {
  const directory = await newDirectory()
  const first = await start(directory)
  const companion = await linkedCompanion(first)
  const contact = newNumber()
  await (await companion.send(contact, { text: 'before' })).ack
  await first.send(contact, { to: companion.number, text: 'settles the session' })
  await companion.until(() => companion.messages.length === 1, 'the answer')
  await companion.end()
  await first.close()

  const second = await start(directory)
  expect(second.rootKey).toBe(first.rootKey)
  const again = new Companion(second, companion.auth)
  await again.until(() => again.isOpen, 'open')
  const { id } = await again.send(contact, { text: 'after' })
  await again.until(() => again.statusOf(id) === 3, 'delivered')
  await second.send(contact, { to: again.number, text: 'and back' })
  await again.until(
    () => again.messages.some((one) => one.message?.conversation === 'and back'),
    'the answer',
  )
  expect(second.messages(contact).map((one) => one.text)).toEqual(['after'])
  expect(second.stats()).toMatchObject({ undecryptable: 0, retries: 0, unknown: {}, failures: 0 })
  await again.end()
})

test('refuses the login of a companion it does not know', async () => {
  const first = await start()
  const companion = await linkedCompanion(first)
  await companion.end()
  const second = await start()
  const again = new Companion(second, companion.auth)
  await again.until(() => again.closedWith === 401, 'code 401')
})

test('loses no companion when the process is killed', options, async () => {
  const directory = await newDirectory()
  const first = await startProcess(directory)
  const companion = new Companion(first.sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  await post(`${first.sim.controlUrl}/scan`, { qr, number: newNumber() })
  await companion.until(() => companion.isOpen, 'open')
  first.child.kill('SIGKILL')
  await companion.until(() => companion.closedWith !== undefined, 'the end')

  const second = await startProcess(directory)
  const again = new Companion(second.sim, companion.auth)
  await again.until(() => again.isOpen, 'open')
  const { id } = await again.send(newNumber(), { text: 'still linked' })
  await again.until(() => again.statusOf(id) === 3, 'delivered')
  await again.end()
  second.child.kill('SIGTERM')
  expect(await exitOf(second.child)).toBe(0)
})

test('starts the command line with one line of JSON and prints no key', options, async () => {
  const { sim, child, output } = await startProcess(await newDirectory())
  const companion = new Companion(sim)
  const qr = await companion.until(() => companion.qr, 'a QR')
  await post(`${sim.controlUrl}/scan`, { qr, number: newNumber() })
  const contact = newNumber()
  await companion.until(() => companion.isOpen, 'open')
  await (await companion.send(contact, { text: 'hello' })).ack
  await post(`${sim.controlUrl}/chats/${contact}/send`, { to: companion.number, text: 'hello yourself' })
  await companion.until(() => companion.messages.length === 1, 'the answer')
  await companion.end()
  child.kill('SIGTERM')
  await exitOf(child)
  expect(output).toHaveLength(1)
  expect(Object.keys(JSON.parse(output[0] ?? ''))).toEqual([
    'socketUrl',
    'rootKey',
    'mediaHost',
    'controlUrl',
  ])
})

type StartedProcess = { child: ChildProcess; sim: Simulator; output: string[] }

async function startProcess(directory: string): Promise<StartedProcess> {
  const cli = new URL('../src/cli.ts', import.meta.url).pathname
  const typescript = new URL('../../../scripts/typescript.mjs', import.meta.url).href
  const args = ['--import', typescript, cli, '--port', '0', '--control-port', '0', '--state', directory]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanups.push(async () => child.kill('SIGKILL'))
  const output: string[] = []
  const first = new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the simulator ended')))
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.push(line)
      resolve(line)
    })
  })
  return { child, sim: JSON.parse(await first) as Simulator, output }
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('exit', (code) => resolve(code)))
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  expect(await response.json()).toMatchObject({ ok: true })
}
