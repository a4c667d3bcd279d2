type Account = { number: string; standing: Standing }

/** What the servers allow an account to do with people that it has no chat with. */
export type Standing = {
  /** Numbers with which messages were exchanged. */
  contacts: Set<string>
  /** The privacy tokens that contacts gave to this account, by their number. */
  tokens: Map<string, { token: Buffer; issuedAt: string }>
  timeLock: { untilMs: number; type: string } | undefined
  newChatCap: { total: number; used: number; startMs: number; endMs: number } | undefined
}

export function makeStanding(): Standing {
  return { contacts: new Set(), tokens: new Map(), timeLock: undefined, newChatCap: undefined }
}

export function noteChat(one: Account, other: Account): void {
  one.standing.contacts.add(other.number)
  other.standing.contacts.add(one.number)
}

export function isFirstContact({ standing }: Account, number: string): boolean {
  return !standing.contacts.has(number) && !standing.tokens.has(number)
}

export function activeTimeLock({ standing: { timeLock } }: Account): Standing['timeLock'] {
  return timeLock && timeLock.untilMs > Date.now() ? timeLock : undefined
}

export function activeNewChatCap({ standing: { newChatCap } }: Account): Standing['newChatCap'] {
  return newChatCap && newChatCap.endMs > Date.now() ? newChatCap : undefined
}

/** The code with which the servers refuse a first message of this account, if they do. Otherwise it counts as a new chat. */
export function refuseFirstContact(phone: Account): '463' | '475' | undefined {
  if (activeTimeLock(phone)) return '463'
  const cap = activeNewChatCap(phone)
  if (!cap) return undefined
  if (cap.used >= cap.total) return '475'
  cap.used += 1
  return undefined
}
