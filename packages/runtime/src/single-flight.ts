/**
 * Runs `work` one at a time: asked while it runs, it runs once more afterwards. Level-triggered work needs
 * no more than that. Errors go to `onError`.
 */
export function makeSingleFlight(work: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isRunning = false
  let isAskedAgain = false

  async function run(): Promise<void> {
    isRunning = true
    do {
      isAskedAgain = false
      await work().catch(onError)
    } while (isAskedAgain)
    isRunning = false
  }

  return () => {
    if (isRunning) isAskedAgain = true
    else void run()
  }
}
