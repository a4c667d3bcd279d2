import { isHeldToken, type PrivacyToken } from './privacy-token.ts'

type Account = { number: string; newChats: NewChats }

/** What the servers allow an account to do with people that it has no chat with. */
export type NewChats = {
  /** Numbers with which messages were exchanged. */
  contacts: Set<string>
  /** The privacy tokens that contacts gave to this account, by their number, in the order in which they were issued. */
  tokens: Map<string, PrivacyToken[]>
  /** Who may write to this account first. `token`: those that prove with a token that they may. */
  firstMessages: FirstMessages
  timeLock: { untilMs: number; type: string } | undefined
  newChatCap: { total: number; used: number; startMs: number; endMs: number } | undefined
}

export const firstMessagesModes = ['anyone', 'token'] as const
type FirstMessages = (typeof firstMessagesModes)[number]

export function makeNewChats(): NewChats {
  return {
    contacts: new Set(),
    tokens: new Map(),
    firstMessages: 'anyone',
    timeLock: undefined,
    newChatCap: undefined,
  }
}

export function noteChat(one: Account, other: Account): void {
  one.newChats.contacts.add(other.number)
  other.newChats.contacts.add(one.number)
}

/** The proof that a message carries, as the servers judge it. */
export type Proof = 'tctoken' | 'cstoken' | 'invalid' | null

export function hasChat({ newChats }: Account, number: string): boolean {
  return newChats.contacts.has(number)
}

/** The token that a message carries is one that the contact has issued to this account, and has not expired. */
export function isTrusted({ newChats }: Account, number: string, token: Uint8Array): boolean {
  return newChats.tokens.get(number)?.some((held) => isHeldToken(held, token)) ?? false
}

export function activeTimeLock({ newChats: { timeLock } }: Account): NewChats['timeLock'] {
  return timeLock && timeLock.untilMs > Date.now() ? timeLock : undefined
}

export function activeNewChatCap({ newChats: { newChatCap } }: Account): NewChats['newChatCap'] {
  return newChatCap && newChatCap.endMs > Date.now() ? newChatCap : undefined
}

/**
 * The code with which the servers refuse a first message of this account, if they do. Otherwise it counts as a new chat. A
 * cstoken shows that the sender is an ordinary client: it opens neither a time-lock nor a cap.
 */
export function refuseFirstContact(phone: Account, to: Account, proof: Proof): '463' | '475' | undefined {
  if (to.newChats.firstMessages === 'token' && proof !== 'cstoken') return '463'
  if (activeTimeLock(phone)) return '463'
  const cap = activeNewChatCap(phone)
  if (!cap) return undefined
  if (cap.used >= cap.total) return '475'
  cap.used += 1
  return undefined
}
