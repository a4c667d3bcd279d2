import { forgetSession } from '../handset/signal.ts'
import { type Network, phoneOf } from '../network/network.ts'
import { firstMessagesModes } from '../network/new-chats.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { renewSalt } from '../stanzas/app-state.ts'
import { announceNewChatCap, announceTimeLock } from '../stanzas/new-chats.ts'
import { giveToken } from '../stanzas/privacy-token.ts'
import { checkNumber } from './check-number.ts'

/** Without `notify: false` the companions of the account are told. */
type TimeLockRequest = { seconds: number; type?: string; notify?: boolean }
type TokenRequest = { to: string; age_seconds?: number; notify?: boolean }
type NewChatCapRequest = { total: number; seconds: number; notify?: boolean }

/** What decides whether an account may write to someone, and whether a phone can read a message. */
export type NewChatActions = {
  /** WhatsApp forbids the account to write to new contacts, or with 0 seconds allows it again. */
  timeLock: (number: string, request: TimeLockRequest) => { ok: true }
  /** WhatsApp allows the account this number of new contacts in the next seconds. 0 seconds lifts the cap. */
  newChatCap: (number: string, request: NewChatCapRequest) => { ok: true }
  /** The phone gives another account a privacy token, which it issued some time ago, by default just now. */
  giveToken: (number: string, request: TokenRequest) => { ok: true }
  /** The privacy tokens that contacts gave to this account. */
  tokens: (number: string) => { from: string; issued_at: number }[]
  /** Who may write to the person first: `anyone`, or with `token` those that prove with a token that they may. */
  privacy: (number: string, request: { first_messages: string }) => { ok: true }
  /** WhatsApp gives the account another salt for its first messages. */
  renewSalt: (number: string) => { ok: true }
  /** The phone loses its Signal sessions with the companions of another account. */
  forget: (number: string, request: { from: string }) => { ok: true; forgotten: number }
}

export function newChatActions(network: Network): NewChatActions {
  const find = (number: string) => phoneOf(network, checkNumber(number))

  return {
    timeLock(number, { seconds, type = 'DEFAULT', notify = true }) {
      checkSeconds(seconds)
      const phone = find(number)
      phone.newChats.timeLock = seconds > 0 ? { untilMs: Date.now() + seconds * 1000, type } : undefined
      if (notify) announceTimeLock(phone)
      return { ok: true }
    },
    newChatCap(number, { total, seconds, notify = true }) {
      checkSeconds(seconds)
      if (!(Number.isInteger(total) && total >= 0)) throw new SimulatorError('total is a whole number.')
      const phone = find(number)
      const startMs = Date.now()
      phone.newChats.newChatCap =
        seconds > 0 ? { total, used: 0, startMs, endMs: startMs + seconds * 1000 } : undefined
      if (notify) announceNewChatCap(phone)
      return { ok: true }
    },
    giveToken(number, { to, age_seconds: age = 0, notify = true }) {
      checkSeconds(age)
      giveToken(find(number), find(to), Math.floor(Date.now() / 1000 - age), notify)
      return { ok: true }
    },
    tokens: (number) =>
      [...find(number).newChats.tokens].flatMap(([from, held]) =>
        held.map(({ issuedAt }) => ({ from, issued_at: issuedAt })),
      ),
    privacy(number, { first_messages: wanted }) {
      const mode = firstMessagesModes.find((one) => one === wanted)
      if (!mode) throw new SimulatorError(`first_messages is one of: ${firstMessagesModes.join(', ')}.`)
      find(number).newChats.firstMessages = mode
      return { ok: true }
    },
    renewSalt(number) {
      renewSalt(network, find(number))
      return { ok: true }
    },
    forget(number, { from }) {
      const phone = find(number)
      const devices = [...find(from).devices.keys()]
      for (const device of devices) forgetSession(phone, from, device)
      network.state.sessionsChanged(phone)
      return { ok: true, forgotten: devices.length }
    },
  }
}

function checkSeconds(seconds: number): void {
  if (!(seconds >= 0)) throw new SimulatorError('seconds is not negative.')
}
