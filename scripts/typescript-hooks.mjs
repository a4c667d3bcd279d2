import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { threadId } from 'node:worker_threads'

const cache = fileURLToPath(new URL('../node_modules/.cache/wagate-typescript/', import.meta.url))

/**
 * Blanks the types out. Nothing moves, so that lines and columns in stack traces are right without source maps.
 *
 * @public Node calls it.
 * @type {import('node:module').LoadHook}
 */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  return { format: 'module', source: await strip(fileURLToPath(url)), shortCircuit: true }
}

/** @param {string} file */
async function strip(file) {
  const text = readFileSync(file, 'utf8')
  const cached = cache + createHash('sha256').update(text).digest('hex')
  try {
    return readFileSync(cached, 'utf8')
  } catch {
    // Not met before. Loading the library takes longer than the work, so it is only done now.
    const { transformSync } = await import('amaro')
    const { code } = transformSync(text, { mode: 'strip-only', filename: file })
    keep(cached, code)
    return code
  }
}

/**
 * @param {string} cached
 * @param {string} code
 */
function keep(cached, code) {
  try {
    mkdirSync(cache, { recursive: true })
    const unfinished = `${cached}.${process.pid}-${threadId}`
    writeFileSync(unfinished, code)
    renameSync(unfinished, cached)
  } catch {
    // The folder belongs to another account, so the file is transpiled again the next time.
  }
}
