import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { type Devnet, startDevnet } from '@wagate/devnet/devnet'
import { bundledApps } from '@wagate/test-kit/servers/test-bundle'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeBlocksOf } from './repository/pages.ts'

const readme = readFileSync(join(repository, 'README.md'), 'utf8')
let devnet: Devnet

beforeAll(async () => {
  devnet = await startDevnet({ compiledIn: await bundledApps(), workers: 1, shards: 4 })
}, 60_000)
afterAll(() => devnet.close())

function blocksOf(section: string, language: string): string[] {
  const [, text = ''] = new RegExp(`^## ${section}$(.*?)^## `, 'ms').exec(readme) ?? []
  return codeBlocksOf(text)
    .filter((block) => block.language === language)
    .map((block) => block.text)
}

/** Runs the blocks in one shell, against this system instead of that of `npm start`. Returns what each has printed. */
function run(blocks: string[], folder: string): string[] {
  const keyFile = join(folder, 'admin-key')
  writeFileSync(keyFile, devnet.adminKey.apiKey ?? '')
  const end = 'END-OF-BLOCK'
  const script = blocks
    .map((block) => `${block}\necho; echo ${end}\n`)
    .join('')
    .replaceAll(/\.data(-live)?\/admin-key/g, `'${keyFile}'`)
    .replaceAll('http://127.0.0.1:3000', devnet.apiUrl)
    .replaceAll('http://127.0.0.1:8789', devnet.simulator?.controlUrl ?? '')
  const output = execFileSync('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, encoding: 'utf8' })
  return output.split(end).slice(0, -1)
}

const differsEachTime = ['message_id', 'wa_message_id', 'created_at', 'sent_at', 'received_at']
/** The receipt may come before or after the answer. */
const dependsOnReceipt = ['status', 'delivered_at']

function withoutChance(text: string): unknown {
  return JSON.parse(text, (key, value) => {
    if (differsEachTime.includes(key)) return typeof value
    return dependsOnReceipt.includes(key) ? key : value
  })
}

test('the commands for a first message answer what the README shows', () => {
  const commands = blocksOf('Send your first message', 'sh')
  const shown = blocksOf('Send your first message', 'json')
  expect([commands.length, shown.length]).toEqual([4, 2])
  const answers = run(commands, temporaryFolder()).map(withoutChance)
  expect(answers.slice(0, 2)).toEqual(shown.map(withoutChance))
  expect(answers[2]).toMatchObject([{ text: 'Hello from wagate', duplicates: 0 }])
  expect(answers[3]).toMatchObject({ ok: true, messages: [{ message: 'Hello from wagate' }] })
}, 60_000)

test('the commands for going live write a QR code', () => {
  const [start, link = ''] = blocksOf('Go live', 'sh')
  expect(start).toMatch(/^npm start -- --live /)
  const folder = temporaryFolder()
  run([link], folder)
  expect(readFileSync(join(folder, 'qr.png')).subarray(1, 4).toString()).toBe('PNG')
}, 60_000)
