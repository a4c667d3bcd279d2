/** The body of a response without an end, for a client that may read slowly. */
export type StreamBody = {
  readable: ReadableStream<Uint8Array<ArrayBuffer>>
  /** False when too much is unread. */
  push(chunk: Uint8Array): boolean
  /** Resolves when little is unread, or when the body has ended. */
  room(): Promise<void>
  /** What is unread is dropped. */
  end(): void
}

const unreadMax = { chunks: 1000, bytes: 2 ** 20 }
/** Leaves room for the largest event. */
const roomBytes = 2 ** 18

export function makeStreamBody(onGone: () => void): StreamBody {
  let unread: Uint8Array[] = []
  let unreadBytes = 0
  let isOver = false
  let resume = () => {}
  let reportRoom = () => {}

  const hasRoom = () => isOver || (unreadBytes < roomBytes && unread.length < unreadMax.chunks / 2)

  function end(): void {
    isOver = true
    unread = []
    resume()
    reportRoom()
  }

  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        while (unread.length === 0 && !isOver) {
          await new Promise<void>((resolve) => {
            resume = resolve
          })
        }
        const chunk = unread.shift()
        if (chunk === undefined) return controller.close()
        unreadBytes -= chunk.byteLength
        if (hasRoom()) reportRoom()
        controller.enqueue(chunk as Uint8Array<ArrayBuffer>)
      },
      cancel() {
        end()
        onGone()
      },
    },
    { highWaterMark: 0 },
  )

  return {
    readable,
    push(chunk) {
      if (isOver) return true
      if (unread.length >= unreadMax.chunks || unreadBytes + chunk.byteLength > unreadMax.bytes) return false
      unread.push(chunk)
      unreadBytes += chunk.byteLength
      resume()
      return true
    },
    room() {
      if (hasRoom()) return Promise.resolve()
      return new Promise((resolve) => {
        reportRoom = resolve
      })
    },
    end,
  }
}
