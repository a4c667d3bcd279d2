import { type BinaryNode, getBinaryNodeChild, type WASocket } from 'baileys'

/** WhatsApp refuses a query because the sender made too many. */
const limitCodes = ['429', '503']

/** What Baileys keeps to itself about the queries that WhatsApp refuses. */
export type QueryLimits = {
  /** How long WhatsApp asked to wait when it refused the last one, or 0 when it did not say. */
  backoffMs(): number
}

export function watchQueryLimits({ ws }: Pick<WASocket, 'ws'>): QueryLimits {
  let backoffMs = 0
  ws.on('frame', (node: BinaryNode) => {
    if (node.tag !== 'iq' || node.attrs.type !== 'error') return
    const error = getBinaryNodeChild(node, 'error')
    if (!limitCodes.includes(error?.attrs.code ?? '')) return
    backoffMs = Math.max(0, Number(error?.attrs.backoff) || 0) * 1000
  })
  return { backoffMs: () => backoffMs }
}

/** Whether Baileys threw this because WhatsApp refused a query in this way. */
export function isQueryLimit(error: unknown): boolean {
  return error instanceof Error && 'data' in error && limitCodes.includes(String(error.data))
}
