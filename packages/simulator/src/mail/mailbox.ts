import type { AddressInfo } from 'node:net'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

export type Mail = {
  id: number
  to: string[]
  from: string
  subject: string
  text: string
  received_at: string
}

export type Mailbox = {
  port: number
  /** The newest last. */
  mails: Mail[]
  close(): Promise<void>
}

const mailsMax = 500
const bytesMax = 1024 * 1024

/** Takes every mail that is sent to it on loopback, and delivers none. */
export async function openMailbox(port: number, onMail: (mail: Mail) => void): Promise<Mailbox> {
  const mails: Mail[] = []
  let received = 0
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    size: bytesMax,
    onData(stream, session, done) {
      simpleParser(stream).then(
        ({ subject, text, from }) => {
          received += 1
          const mail = {
            id: received,
            to: session.envelope.rcptTo.map(({ address }) => address),
            from: from?.text ?? '',
            subject: subject ?? '',
            text: text ?? '',
            received_at: new Date().toISOString(),
          }
          mails.push(mail)
          if (mails.length > mailsMax) mails.shift()
          onMail(mail)
          done()
        },
        (error: unknown) => done(error instanceof Error ? error : new Error('The mail could not be read')),
      )
    },
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
  // Broken connections of clients are theirs.
  server.on('error', () => {})
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
