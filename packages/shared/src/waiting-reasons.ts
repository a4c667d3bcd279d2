/** What a message waits for, and what that means for its caller. The first one that is true counts. */
export const waitingReasons = {
  scheduled: 'its `send_at`',
  paused: 'the end of the pause of its sender, or `resume-sender`',
  sender_disconnected: 'the connection of its sender: `info-device` says why it has none',
  restriction: 'the end of a restriction: WhatsApp lets its sender write to no new contacts',
  new_contacts: 'the next UTC day: its sender has used up the new contacts of this one',
  earlier_message: 'an earlier message of its sender to the same recipient',
  file: 'its file, which is being fetched, or is asked for again',
  retry: 'the next attempt: `timeline` has the reason of the last setback',
  answer: 'the answer of WhatsApp',
  daily_cap: 'the next UTC day: its sender has sent what `daily_cap` allows',
  pace: 'its turn: the pace of its sender, messages of higher priority, others in flight, or a look-up of its number',
} as const

export type WaitingReason = keyof typeof waitingReasons

/** A message that fails for longer no longer holds back those behind it. */
export const holdMs = 600_000
