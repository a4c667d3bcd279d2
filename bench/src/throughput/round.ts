export type Round = {
  way: string
  messages: number
  ms: number
  /** By process. `sender` is the one with the WhatsApp sockets. */
  cpuMs: Record<'sender' | 'api' | 'postgres' | 'redis' | 'simulator' | 'client', number>
}
