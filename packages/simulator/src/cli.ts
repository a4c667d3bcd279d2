import { parseArgs } from 'node:util'
import type { Mail } from './mail/mailbox.ts'
import { startSimulator } from './simulator.ts'

const usage = `wa-simulator [--port 8788] [--control-port 8789] [--state <directory>] [--decrypt=false]
             [--smtp-port <port>]

A WhatsApp network on loopback. The first line of the output is JSON:
{"socketUrl","rootKey","mediaHost","controlUrl"}; open controlUrl in a browser for the phones. With --smtp-port it also
takes mails, which it prints and shows, and delivers to nobody.`

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
      'smtp-port': { type: 'string' },
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
    ...(values['smtp-port'] && { smtpPort: portOf(values['smtp-port']), onMail: print }),
    ...(values.state && { stateDirectory: values.state }),
  })
  const { socketUrl, rootKey, mediaHost, controlUrl, smtpUrl } = simulator
  console.log(JSON.stringify({ socketUrl, rootKey, mediaHost, controlUrl, smtpUrl }))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void simulator.close())
}

function print({ to, subject, text }: Mail): void {
  console.log(`Mail to ${to.join(', ')}: ${subject}\n\n${text}`)
}

function portOf(text: string): number {
  const port = Number(text)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`not a port: ${text}`)
  return port
}
