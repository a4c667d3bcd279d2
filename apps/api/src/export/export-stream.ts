/** The lines that are read at a time, from one page of a query. */
export type ExportPage = ({ type: string } & Record<string, unknown>)[]

/** Reads the beginning, so that an export of which nothing can be read is refused like any request. */
export type OpenExport = (connection: {
  /** Whether the credential of the request is still valid. */
  isAdmitted(): Promise<boolean>
  /** Ends the connection, also if the client reads nothing. */
  hangUp(): void
}) => Promise<ReadableStream<Uint8Array>>

type Options = {
  pages(signal: AbortSignal): AsyncGenerator<ExportPage>
  isAdmitted(): Promise<boolean>
  hangUp(): void
  /** Aborted when the process stops. */
  closing: AbortSignal
  /** Called once, however it ends. */
  onEnd(): void
  onError(error: unknown): void
  /** Of a client that reads nothing. */
  stallMs?: number
}

/** Without reading anything. */
const stallMsMax = 60_000

/**
 * The lines of an export, read as fast as its client does: one page is in memory at a time. It breaks off, without the last
 * line, when the client reads nothing for a minute or its credential is not valid any more. Rejects if the first page cannot
 * be read.
 */
export async function makeExportStream(options: Options): Promise<ReadableStream<Uint8Array>> {
  const { isAdmitted, hangUp, closing, onEnd, onError, stallMs = stallMsMax } = options
  const ended = new AbortController()
  const pages = options.pages(ended.signal)
  const encoder = new TextEncoder()
  let stalled: NodeJS.Timeout | undefined
  let close = () => {}
  let isJustAdmitted = true

  function end(): void {
    clearTimeout(stalled)
    if (ended.signal.aborted) return
    ended.abort()
    closing.removeEventListener('abort', breakOff)
    // Not awaited: it may be in the middle of a page.
    void pages.return(undefined).catch(() => undefined)
    onEnd()
  }

  /** The client sees a connection that ends too early, as it also lacks the last line. */
  function breakOff(): void {
    if (ended.signal.aborted) return
    hangUp()
    close()
    end()
  }

  async function readPage(): Promise<Uint8Array | undefined> {
    for (; ; isJustAdmitted = false) {
      if (!isJustAdmitted && !(await isAdmitted())) {
        throw new Error('The credential of the export is not valid any more')
      }
      const { done, value } = await pages.next()
      if (done) return undefined
      if (value.length > 0) return encoder.encode(value.map((line) => `${JSON.stringify(line)}\n`).join(''))
    }
  }

  let first = await readPage().catch((error) => {
    end()
    throw error
  })
  isJustAdmitted = false
  closing.addEventListener('abort', breakOff)
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        close = () => controller.close()
        stalled = setTimeout(breakOff, stallMs)
        if (closing.aborted) breakOff()
      },
      async pull(controller) {
        clearTimeout(stalled)
        try {
          const chunk = first ?? (await readPage())
          first = undefined
          if (ended.signal.aborted) return
          if (chunk) {
            controller.enqueue(chunk)
            stalled = setTimeout(breakOff, stallMs)
          } else {
            close()
            end()
          }
        } catch (error) {
          if (ended.signal.aborted) return
          onError(error)
          breakOff()
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
