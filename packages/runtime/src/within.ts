/**
 * Resolves like `work`, or to undefined after the limit. `work` continues. After a pause of the process, what has arrived
 * meanwhile still counts.
 */
export async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<undefined>((resolve) => {
    // Timers run before the sockets are read.
    timer = setTimeout(() => setImmediate(resolve, undefined), limitMs)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}
