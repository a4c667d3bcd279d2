#!/usr/bin/env node
// The command of operators: `node scripts/wagate.mjs admin create --email you@example.com`, `… keys rotate`.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loadEnvFile } from './env-file.mjs'

loadEnvFile()
const root = fileURLToPath(new URL('..', import.meta.url))
const ofWorker = ['keys', 'shards', 'network', 'signal-format', 'housekeeping', 'dispatcher']
const app = ofWorker.includes(process.argv[2] ?? '') ? 'worker' : 'api'
const cli = fileURLToPath(new URL(`../apps/${app}/src/cli.ts`, import.meta.url))
const typescript = new URL('./typescript.mjs', import.meta.url).href
const child = spawn(
  process.execPath,
  ['--import', typescript, '--conditions=source', cli, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1)
})
