export type Round = {
  way: string
  messages: number
  ms: number
  /** What Postgres has added to its log, without whole pages. */
  walBytes?: number
  /** By process. `sender` is the one with the WhatsApp sockets. */
  cpuMs: Record<'sender' | 'api' | 'postgres' | 'redis' | 'simulator' | 'client', number>
}
