import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('..', import.meta.url))

const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])

/**
 * Runs a Node program in our place: same terminal, our signals, its exit code. A channel tells it when we are
 * killed, and we look whether npm is, which a SIGKILL gives no chance to tell us.
 *
 * @param {string[]} args
 */
export function become(args) {
  const child = spawn(process.execPath, args, {
    cwd: repository,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM')
  }, 500).unref()
}

/**
 * Runs a command and collects what it prints.
 *
 * @param {string} command
 * @param {string[]} args
 * @returns {Promise<{code: number, output: string}>}
 */
export function runToEnd(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = () => {
      child.kill('SIGTERM')
      process.exit(130)
    }
    for (const signal of signals) process.once(signal, stop)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('close', (code) => {
      for (const signal of signals) process.off(signal, stop)
      resolve({ code: code ?? 1, output })
    })
  })
}
