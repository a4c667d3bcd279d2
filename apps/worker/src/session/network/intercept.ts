import type { BinaryNode, WASocket } from 'baileys'

/**
 * Intercepts a kind of stanza before Baileys' own listeners: they receive it only when `passOn` is called. It resolves
 * when they have handled the stanza, which is at once for stanzas with the attribute `offline`.
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
