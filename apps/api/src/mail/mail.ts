/** A mail to one person. Its text is ours alone: nothing that somebody has typed is in it. */
export type Mail = {
  to: string
  subject: string
  text: string
  /** For the metric. */
  kind: string
}
