/** A mail to one person. Its text contains nothing that anybody has typed. */
export type Mail = {
  to: string
  subject: string
  text: string
  /** For the metric. */
  kind: string
}
