export type BareRequest =
  | { kind: 'link'; senders: string[]; socketUrl: string; rootKey: string; controlUrl: string }
  | { kind: 'send'; messages: number; waitForAcks: boolean }

/** `ms` from the first send to the last awaited response. The reply follows the last receipt. */
export type BareReply = { ms: number }
export type BareFailure = { error: string }
