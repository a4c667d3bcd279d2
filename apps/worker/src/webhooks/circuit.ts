/** `all`: as many requests as usual. `one`: a probe. `none`: not now. */
export type Allowance = 'all' | 'one' | 'none'

export type CircuitLimits = {
  /** Failures in a row, after which requests are only probes. */
  failuresMax: number
  probeMinMs: number
  probeMaxMs: number
}

/** The requests that a target may get, by what became of the last ones. Times are those of `performance.now()`. */
export class Circuit {
  readonly #limits: CircuitLimits
  #failures: number
  #waitsUntilMs = 0

  /** With `isFailing`, it begins with a probe. */
  constructor(limits: CircuitLimits, isFailing: boolean) {
    this.#limits = limits
    this.#failures = isFailing ? limits.failuresMax : 0
  }

  allowanceAt(nowMs: number): Allowance {
    if (nowMs < this.#waitsUntilMs) return 'none'
    return this.#failures < this.#limits.failuresMax ? 'all' : 'one'
  }

  succeed(): void {
    this.#failures = 0
  }

  /** `retryAfterMs`: what the target has asked for. */
  fail(nowMs: number, retryAfterMs = 0): void {
    this.#failures += 1
    const excess = this.#failures - this.#limits.failuresMax
    const { probeMinMs, probeMaxMs } = this.#limits
    const probeMs = excess < 0 ? 0 : Math.min(probeMinMs * 2 ** excess, probeMaxMs)
    this.#waitsUntilMs = Math.max(this.#waitsUntilMs, nowMs + Math.max(probeMs, retryAfterMs))
  }
}
