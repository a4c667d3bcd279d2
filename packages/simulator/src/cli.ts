import { parseArgs } from 'node:util'
import { startSimulator } from './simulator.ts'

const usage = `wa-simulator [--port 8788] [--control-port 8789] [--state <directory>] [--decrypt=false]

A WhatsApp network on loopback. The first line of the output is JSON:
{"socketUrl","rootKey","mediaHost","controlUrl"}; open controlUrl in a browser for the phones.`

// libsignal prints whole session records with private keys through these.
console.info = console.warn = console.error = () => {}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8788' },
      'control-port': { type: 'string', default: '8789' },
      state: { type: 'string' },
      decrypt: { type: 'string', default: 'true' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return
  }
  const simulator = await startSimulator({
    port: portOf(values.port),
    controlPort: portOf(values['control-port']),
    decrypt: values.decrypt !== 'false',
    onFailure: (error) => process.stderr.write(`${error instanceof Error ? error.message : 'failure'}\n`),
    ...(values.state && { stateDirectory: values.state }),
  })
  const { socketUrl, rootKey, mediaHost, controlUrl } = simulator
  console.log(JSON.stringify({ socketUrl, rootKey, mediaHost, controlUrl }))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void simulator.close())
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`not a port: ${text}`)
  return port
}
