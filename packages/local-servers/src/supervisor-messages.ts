/** The options of the supervisor, as one JSON argument. */
export type SupervisorOptions = {
  /** The servers' data and log files go here. */
  folder: string
  logFolder: string
  vendorFolder: string
  postgres: boolean
  redis: boolean
  /** False: throw-away servers, whose folder is removed at the end. */
  durable: boolean
}

export type ServerName = 'postgres' | 'redis'

export function isServerName(name: string): name is ServerName {
  return name === 'postgres' || name === 'redis'
}

export type ServerFacts = { url: string; pid: number; about: string }

export type FromSupervisor =
  | { kind: 'progress'; text: string }
  | { kind: 'ready'; postgres?: ServerFacts; redis?: ServerFacts }
  | { kind: 'failed'; reason: string }
  | { kind: 'ended'; server: ServerName }
  | { kind: 'started'; server: ServerName; facts: ServerFacts }

export type ToSupervisor =
  | { kind: 'start'; server: ServerName }
  /** Processes that use the servers: the supervisor waits for them before it stops anything. */
  | { kind: 'watch'; pid: number }
  | { kind: 'forget'; pid: number }
