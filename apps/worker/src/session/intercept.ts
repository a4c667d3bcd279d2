import type { BinaryNode, WASocket } from 'baileys'

/**
 * Stands before Baileys' own listeners for a kind of stanza: they are given it when `passOn` is called, if ever. It
 * resolves when they are done with it, which for what comes as offline is at once.
 */
export function intercept(
  ws: WASocket['ws'],
  event: string,
  handle: (node: BinaryNode, passOn: () => Promise<unknown>) => void,
): void {
  const listeners = ws.listeners(event)
  ws.removeAllListeners(event)
  ws.on(event, (node: BinaryNode) =>
    handle(node, () => Promise.allSettled(listeners.map((listener) => Reflect.apply(listener, ws, [node])))),
  )
}
