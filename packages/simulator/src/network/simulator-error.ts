/** A request that cannot be fulfilled, with a sentence for the caller. */
export class SimulatorError extends Error {
  override name = 'SimulatorError'
  readonly status: number

  constructor(sentence: string, status = 400) {
    super(sentence)
    this.status = status
  }
}
