/** What `work` resolves with, or undefined when it takes longer than the limit. It goes on all the same. */
export async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}
