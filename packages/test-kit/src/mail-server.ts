import { type Mail, openMailbox } from '@wagate/simulator/mailbox'
import { until } from './until.ts'

export type MailServer = {
  url: string
  mails: Mail[]
  /** The newest mail to the address, once there are `count` of them. */
  mailTo(address: string, count?: number): Promise<Mail>
  close(): Promise<void>
}

/** A real SMTP server on loopback that keeps what it gets. */
export async function startMailServer(wantedPort = 0): Promise<MailServer> {
  const { port, mails, close } = await openMailbox(wantedPort, () => {})
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async mailTo(address, count = 1) {
      return until(`${count} mails to ${address}`, () => {
        const own = mails.filter(({ to }) => to.includes(address))
        return own.length >= count && own.at(-1)
      })
    },
    close,
  }
}

/** The secret in the link of a mail. */
export function tokenIn({ text }: Mail): string {
  const [, token] = /#(wag_mail_\w+)/.exec(text) ?? []
  if (token === undefined) throw new Error(`There is no link with a secret in: ${text}`)
  return token
}
