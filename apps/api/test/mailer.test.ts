import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { makeLogger } from '@wagate/runtime/logger'
import { startMailServer } from '@wagate/test-kit/mail-server'
import { until } from '@wagate/test-kit/until'
import { afterEach, expect, test } from 'vitest'
import { makeMetrics } from '../src/health/metrics.ts'
import { makeMailer } from '../src/mail/mailer.ts'
import type { Mail } from '../src/mail/mails.ts'

const ends: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const mail = (to = 'a@example.com'): Mail => ({ to, subject: 'Subject', text: 'Text', kind: 'test' })

function mailerTo(smtpUrl: string) {
  const metrics = makeMetrics()
  const warnings: unknown[] = []
  const log = Object.assign(makeLogger('api', 'silent'), {
    warn: (fields: unknown) => void warnings.push(fields),
  })
  const mailer = makeMailer({ smtpUrl, from: 'gateway@example.com', log, metrics })
  ends.push(() => mailer.finish())
  const countOf = async (outcome: string) => {
    const { values } = await metrics.mails.get()
    return values
      .filter(({ labels }) => labels.outcome === outcome)
      .reduce((sum, { value }) => sum + value, 0)
  }
  return { ...mailer, countOf, warnings }
}

async function mailServer() {
  const server = await startMailServer()
  ends.push(server.close)
  return server
}

/** Answers each command as `answer` says. */
async function talkingServer(answer: (line: string, socket: Socket) => string | undefined) {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    const greeting = answer('', socket)
    if (greeting !== undefined) socket.write(`${greeting}\r\n`)
    socket.on('data', (data) => {
      for (const line of data.toString().split('\r\n').filter(Boolean)) {
        const said = answer(line, socket)
        if (said !== undefined) socket.write(`${said}\r\n`)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  return { url: `smtp://127.0.0.1:${port}`, port, sockets }
}

test('a mail arrives with its sender, and marked as automatic', async () => {
  const server = await mailServer()
  mailerTo(server.url).send(async () => mail())
  expect(await server.mailTo('a@example.com')).toMatchObject({
    from: 'gateway@example.com',
    subject: 'Subject',
    text: 'Text\n',
  })
})

test('a mail is sent once the server is there, and made once', async () => {
  const { port } = await talkingServer(() => undefined)
  await ends.pop()?.()
  let made = 0
  const mailer = mailerTo(`smtp://127.0.0.1:${port}`)
  mailer.send(async () => {
    made += 1
    return mail()
  })
  await until('the first attempt', () => made > 0)
  const server = await startMailServer(port)
  ends.push(server.close)
  await server.mailTo('a@example.com')
  expect([made, await mailer.countOf('sent')]).toEqual([1, 1])
})

test('an operator reads in the log why the server cannot be reached', async () => {
  const { port } = await talkingServer(() => undefined)
  await ends.pop()?.()
  const mailer = mailerTo(`smtp://127.0.0.1:${port}`)
  mailer.send(async () => mail())
  await until('the first attempt', () => mailer.warnings.length > 0)
  expect(mailer.warnings).toEqual([{ reason: 'ESOCKET ECONNREFUSED' }])
})

test('an address that the server refuses for good is given up at once', async () => {
  let recipients = 0
  const { url } = await talkingServer((line) => {
    if (line === '') return '220 mail.example.com'
    if (!line.startsWith('RCPT')) return '250 ok'
    recipients += 1
    return '550 no such person'
  })
  const mailer = mailerTo(url)
  mailer.send(async () => mail())
  await until('the failure', async () => (await mailer.countOf('failed')) === 1)
  expect(recipients).toBe(1)
})

test('a server that is busy is asked again after a pause', async () => {
  const times: number[] = []
  const { url } = await talkingServer((line) => {
    if (line === '') return '220 mail.example.com'
    if (line.startsWith('RCPT')) times.push(performance.now())
    return line.startsWith('RCPT') ? '451 later' : '250 ok'
  })
  mailerTo(url).send(async () => mail())
  await until('three attempts', () => times.length >= 3)
  expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1000)
})

test('a silent server delays the stop by three seconds at most, and keeps no connection', async () => {
  const { url, sockets } = await talkingServer(() => undefined)
  const mailer = mailerTo(url)
  for (let sent = 0; sent < 10; sent += 1) mailer.send(async () => mail())
  await until('connections', () => sockets.size === 4)
  const startedAt = performance.now()
  await mailer.finish()
  expect(performance.now() - startedAt).toBeLessThan(5000)
  expect(await mailer.countOf('failed')).toBe(10)
  await until('closed connections', () => [...sockets].every(({ closed }) => closed))
})

test('a password is not sent to another machine without TLS', async () => {
  const said: string[] = []
  const { port } = await talkingServer((line) => {
    said.push(line)
    return line === '' ? '220 mail.example.com' : '250 AUTH PLAIN LOGIN'
  })
  // A name that is not known to be this machine, at its address.
  const mailer = mailerTo(`smtp://user:secret@${'[::ffff:127.0.0.1]'}:${port}`)
  mailer.send(async () => mail())
  await until('an attempt', () => said.some((line) => line.startsWith('STARTTLS')))
  await mailer.finish()
  expect(said.filter((line) => /AUTH|MAIL|RCPT/.test(line))).toEqual([])
})

test('more than a thousand mails do not wait', async () => {
  const { url } = await talkingServer(() => undefined)
  const mailer = mailerTo(url)
  for (let sent = 0; sent < 1010; sent += 1) mailer.send(async () => mail())
  expect(await mailer.countOf('failed')).toBe(10)
})
