// Loaded into the API and a worker: tells which functions of the repository run, and in which order they are first entered.
// It answers on the Unix socket WAGATE_TRACE_SOCKET, because its questions have arguments, which a signal has not.
import { createServer } from 'node:http'
import { Session } from 'node:inspector'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const session = new Session()
/** @type {Map<string, { scriptId: string, lineStarts: number[] }>} By file, relative to the repository. */
const scripts = new Map()
/** @type {{ file: string, start: number, end: number }[]} */
let watched = []
/** When each of them was first entered, by its index: ms of the clock that all processes share. */
const entered = new Map()
/** The breakpoints of each, by its index. @type {Map<number, string[]>} */
const placed = new Map()

session.connect()
session.on('Debugger.scriptParsed', ({ params: { url, scriptId } }) => {
  const file = fileOf(url)
  if (file) scripts.set(file, { scriptId, lineStarts: [] })
})

/** @type {Record<string, (body: string) => unknown>} */
const answers = {
  '/count': () => {
    ask('Profiler.enable')
    ask('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    return takeCounts()
  },
  '/take-counts': takeCounts,
  '/watch': (body) => {
    ask('Profiler.stopPreciseCoverage')
    ask('Debugger.enable')
    watched = JSON.parse(body)
    for (const at of watched.keys()) place(at)
  },
  '/take-entered': () => {
    const taken = [...entered].map(([at, ms]) => ({ at, ms }))
    for (const at of entered.keys()) {
      remove(at)
      place(at)
    }
    entered.clear()
    return taken
  },
}

const server = createServer(async (request, response) => {
  const body = await text(request)
  try {
    response.end(JSON.stringify(answers[request.url ?? '']?.(body) ?? null))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})
// A process that this one starts has the same environment, and finds the socket in use.
server.on('error', () => undefined)
server.listen(process.env.WAGATE_TRACE_SOCKET).unref()

/** The functions that ran since the call before. */
function takeCounts() {
  /** @type {import('node:inspector').Profiler.ScriptCoverage[]} */
  const counted = ask('Profiler.takePreciseCoverage').result
  return counted.flatMap(({ url, functions }) => {
    const file = fileOf(url)
    if (!file) return []
    return functions.flatMap(({ functionName: name, ranges: [whole] }) => {
      // What begins with the file is the module itself, which runs when it is loaded. V8 names `<…>` what is not in the source.
      if (!whole?.count || whole.startOffset === 0 || name.startsWith('<')) return []
      return { file, name, start: whole.startOffset, end: whole.endOffset }
    })
  })
}

/** The condition of every breakpoint. It is never true, so that the process does not stop. */
Object.defineProperty(globalThis, 'wagateTraceEntered', {
  value: (/** @type {number} */ at) => {
    if (!entered.has(at)) {
      entered.set(at, Number(process.hrtime.bigint()) / 1e6)
      // A condition is compiled each time, which takes long in a function that is entered often.
      setImmediate(() => entered.has(at) && remove(at))
    }
    return false
  },
})

/** @param {number} at */
function place(at) {
  const { file, start, end } = watched[at] ?? { file: '', start: 0, end: 0 }
  const script = scripts.get(file)
  if (!script) return
  const first = positionOf(script, start)
  const range = { start: first, end: positionOf(script, end + 1) }
  /** @type {import('node:inspector').Debugger.Location[]} */
  const locations = ask('Debugger.getPossibleBreakpoints', { ...range, restrictToFunction: true }).locations
  // The first ones may be in the default value of a parameter, which is not always evaluated.
  const places = locations.length > 0 ? locations.slice(0, 3) : [first]
  const condition = `wagateTraceEntered(${at})`
  placed.set(
    at,
    places.map((location) => ask('Debugger.setBreakpoint', { location, condition }).breakpointId),
  )
}

/** @param {number} at */
function remove(at) {
  for (const breakpointId of placed.get(at) ?? []) ask('Debugger.removeBreakpoint', { breakpointId })
  placed.delete(at)
}

/**
 * @param {{ scriptId: string, lineStarts: number[] }} script
 * @param {number} offset
 */
function positionOf(script, offset) {
  if (script.lineStarts.length === 0) {
    const { scriptSource } = ask('Debugger.getScriptSource', { scriptId: script.scriptId })
    script.lineStarts = [0, ...[...scriptSource.matchAll(/\n/g)].map(({ index }) => index + 1)]
  }
  const after = script.lineStarts.findIndex((start) => start > offset)
  const lineNumber = (after === -1 ? script.lineStarts.length : after) - 1
  return {
    scriptId: script.scriptId,
    lineNumber,
    columnNumber: offset - (script.lineStarts[lineNumber] ?? 0),
  }
}

/** @param {string} url */
function fileOf(url) {
  if (!url.startsWith('file:')) return undefined
  const path = fileURLToPath(url)
  const isOwn = path.startsWith(repository) && /^(apps|packages)\//.test(path.slice(repository.length))
  return isOwn && !path.includes('/node_modules/') ? path.slice(repository.length) : undefined
}

/**
 * A session of the same thread answers before it returns.
 *
 * @param {string} method
 * @param {object} [parameters]
 */
function ask(method, parameters) {
  let answer
  session.post(method, parameters, (error, result) => {
    if (error) throw Object.assign(new Error(error.message), { method })
    answer = result
  })
  return /** @type {any} */ (answer)
}
