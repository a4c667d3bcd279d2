/** A way to run Redis on this machine. */
export type RedisProgram = {
  /** For the summary, such as "redis-server 7.0.15 on the PATH". */
  source: string
  keepsData: boolean
  command(at: { folder: string; port: number }): { command: string; args: string[]; env: NodeJS.ProcessEnv }
}

export type RedisSearch = {
  /** Where programs fetched by an earlier run are kept. */
  vendorFolder: string
  /** Reports steps that take long to the user. */
  report(text: string): void
  signal: AbortSignal
}
