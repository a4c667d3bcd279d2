/** A planted bug, and the test that must notice it. */
export type Mutant = {
  name: string
  file: string
  /** In the file exactly once, as short as possible, so that changes nearby do not break it. */
  text: string
  replacement: string
  test: {
    file: string
    title: string
    /** Where its text is, if not in the file, or not as it is shown. */
    written?: { file?: string; title?: string }
  }
}
