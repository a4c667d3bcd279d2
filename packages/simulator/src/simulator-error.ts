/** Something the caller asked for that cannot be; the sentence says why. */
export class SimulatorError extends Error {
  override name = 'SimulatorError'
  readonly status: number

  constructor(sentence: string, status = 400) {
    super(sentence)
    this.status = status
  }
}
