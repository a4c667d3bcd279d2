export type DevnetOptions = {
  /** Kept, and used by one run at a time. Without it the data goes to a temporary folder and is removed. */
  dataFolder?: string
  /** Servers to use instead of private ones. */
  databaseUrl?: string
  redisUrl?: string
  /** 2 without it. Their names are worker-1, worker-2 and so on. */
  workers?: number
  network?: 'simulator' | 'live'
  /** 0 or absent: any free port. */
  apiPort?: number
  simulatorPort?: number
  /** 256 without it; fixed when a database is first used. */
  shards?: number
  /**
   * Where compiled programs are, laid out as in the image (`apps/api/dist/main.js`): the repository after `npm run build`,
   * or another folder. Without it they run from source.
   */
  compiledIn?: string
  /** Restart crashed processes, servers included. Tests that kill processes leave it off. */
  restart?: boolean
  /** Further settings for one process, such as `{SEND_RATE_PER_MINUTE: '0'}` for a worker. */
  environment?(name: string): NodeJS.ProcessEnv
  /** The address at which this process reaches a server, such as that of a proxy in front of it. */
  proxyFor?(name: string, serverUrl: string): Promise<string>
  /** Called with sentences for the user at the terminal. By default they are not printed. */
  report?(text: string): void
  /** Called when the servers have ended and do not come back. Only `close` works then. */
  onBroken?(reason: string): void
  signal?: AbortSignal
}
