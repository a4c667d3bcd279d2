import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { AppProcess } from './app-process.ts'

const pollMs = 250

type Log = Pick<AppProcess, 'logFile' | 'logOffset'>

/** Calls back for every line that the process writes to its log. Returns how to stop. */
export function followLog(app: Log, onLine: (line: string) => void): () => void {
  let offset = app.logOffset
  let rest = ''
  const poll = () => {
    const { text, end } = readFrom(app.logFile, offset)
    offset = end
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
  const timer = setInterval(poll, pollMs).unref()
  return () => {
    clearInterval(timer)
    poll()
  }
}

/** The first line of the process for which `parse` answers. Rejects when it ends before. */
export async function waitForLine<T>(app: AppProcess, parse: (line: string) => T | undefined): Promise<T> {
  for (;;) {
    const hasEnded = app.hasEnded()
    const { text } = readFrom(app.logFile, app.logOffset)
    for (const line of text.split('\n').slice(0, -1)) {
      const found = parse(line)
      if (found !== undefined) return found
    }
    if (hasEnded) throw new Error(describeFailedStart(app))
    await delay(10)
  }
}

export function describeFailedStart(app: AppProcess): string {
  return `${app.name} ended while starting:\n${lastLines(app)}`
}

/** The last lines of the process, which usually say why it ended. */
export function lastLines(app: AppProcess, count = 12): string {
  return readFrom(app.logFile, app.logOffset).text.trimEnd().split('\n').slice(-count).join('\n')
}

function readFrom(file: string, offset: number): { text: string; end: number } {
  // The supervisor of the servers deletes a temporary folder when they stop, and when they cannot start.
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size <= offset) return { text: '', end: offset }
  const handle = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(size - offset)
    const length = readSync(handle, bytes, 0, bytes.length, offset)
    return { text: bytes.toString('utf8', 0, length), end: offset + length }
  } finally {
    closeSync(handle)
  }
}
