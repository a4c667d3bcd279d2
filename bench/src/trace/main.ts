import { formatTrace } from './format-trace.ts'
import { traceWay } from './trace-way.ts'
import { ways } from './ways.ts'

const [name = ''] = process.argv.slice(2)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) {
  process.on(signal, () => stopping.abort(new Error('Stopped.')))
}

if (Object.hasOwn(ways, name)) {
  try {
    console.log(formatTrace(await traceWay(name, { signal: stopping.signal })))
  } catch (error) {
    console.error(stopping.signal.aborted ? 'Stopped.' : error)
    process.exitCode = 1
  }
} else {
  console.error(`Usage: npm run trace -- <${Object.keys(ways).join('|')}>`)
  process.exitCode = 2
}
if (process.connected) process.disconnect()
