import { setTimeout as delay } from 'node:timers/promises'

/** Resolves when a send would be sent, with nothing degraded. Throws at once when `hasFailed` names a reason why it never will. */
export async function waitUntilReady(
  apiUrl: string,
  timeoutMs: number,
  hasFailed: () => string | undefined,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  let last = 'no answer'
  while (performance.now() < deadline) {
    const failure = hasFailed()
    if (failure) throw new Error(failure)
    try {
      const response = await fetch(`${apiUrl}/health/ready`, { signal: AbortSignal.timeout(5000) })
      const text = await response.text()
      if (response.status === 200 && JSON.parse(text).status === 'ready') return
      last = `${response.status} ${text}`
    } catch (error) {
      last = String(error)
    }
    await delay(25)
  }
  throw new Error(`Not ready after ${timeoutMs / 1000} s. The last answer of ${apiUrl}/health/ready: ${last}`)
}
