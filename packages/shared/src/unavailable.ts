/** Why the gateway has a message without its content. The phone of the account may show it. There may be new ones. */
export const unavailableReasons = [
  'view_once',
  'undecryptable',
  'hosted',
  'bot',
  'hidden',
  'unsupported',
  'withheld',
] as const

export type UnavailableReason = (typeof unavailableReasons)[number]
