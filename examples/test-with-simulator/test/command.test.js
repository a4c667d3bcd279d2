import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { socketOptions } from '@wagate/simulator/socket-options'
import { baileys, ShippingNotices } from '../src/shipping-notices.js'

// libsignal prints sessions with private keys through these.
for (const method of ['info', 'warn', 'error']) console[method] = () => {}

const shop = '4915112345678'
const customer = '4917712345678'

test('the simulator runs as a process of its own, controlled over HTTP', async (t) => {
  const command = join(import.meta.dirname, '../node_modules/.bin/wa-simulator')
  const simulator = spawn(command, ['--port', '0', '--control-port', '0'])
  t.after(() => simulator.kill('SIGTERM'))
  const [line] = await once(createInterface(simulator.stdout), 'line')
  const network = JSON.parse(line)
  const request = async (path, body) => {
    const options = body && { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(network.controlUrl + path, options)).json()
  }

  const folder = await mkdtemp(join(tmpdir(), 'shop-'))
  const notices = new ShippingNotices(folder, {
    ...socketOptions(network, baileys.WA_CERT_DETAILS),
    onQr: (qr) => request('/scan', { qr, number: shop }),
  })
  t.after(async () => {
    await notices.close()
    await rm(folder, { recursive: true, force: true })
  })
  await notices.connect()
  await notices.send(customer, 'B-1')

  const [message] = await request(`/chats/${customer}/messages`)
  assert.equal(message.text, 'Your order B-1 is on its way.')
})
