/** Nothing but the released Baileys, or all with which a worker makes it faster. */
export type BareBaileys = 'as released' | 'as in a worker'

/** `perSecond`: at this pace, else as soon as one of a few for each sender has left. */
export type BarePace = { waitForAcks: boolean; perSecond?: number }

export type BareRequest =
  | {
      kind: 'link'
      baileys: BareBaileys
      senders: string[]
      socketUrl: string
      rootKey: string
      controlUrl: string
    }
  | ({ kind: 'send'; messages: number } & BarePace)

/** `ms` from the first send to the last awaited response. The reply follows the last receipt. */
export type BareReply = { ms: number }
export type BareFailure = { error: string }
