import type { BinaryNode, WASocket } from 'baileys'

/** `refused`: with WhatsApp's error code. */
export type PairingCodeResult = { kind: 'code'; code: string } | { kind: 'refused'; error: string }

/**
 * Asks WhatsApp for a code of 8 characters that the person with this number can type instead of scanning. Call once the
 * QR code is shown: WhatsApp takes no request before. Rejects without an answer in time.
 */
export async function askForPairingCode(
  sock: WASocket,
  number: string,
  timeoutMs: number,
): Promise<PairingCodeResult> {
  const answer = nextAnswer(sock, timeoutMs)
  // Handled below, after the request has left.
  answer.catch(() => undefined)
  // Baileys sends the request and does not wait for the answer.
  const code = await sock.requestPairingCode(number)
  const error = errorOf(await answer)
  return error === undefined ? { kind: 'code', code } : { kind: 'refused', error }
}

/** While a QR code is shown, Baileys asks for nothing else that is answered with this child or with an error. */
function nextAnswer({ ws }: WASocket, timeoutMs: number): Promise<BinaryNode> {
  const events = ['CB:iq,type:result,link_code_companion_reg', 'CB:iq,type:error']
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => finish(() => reject(new Error('WhatsApp did not answer the request for a pairing code'))),
      timeoutMs,
    )
    const onAnswer = (stanza: BinaryNode) => finish(() => resolve(stanza))
    const onClose = () => finish(() => reject(new Error('The connection ended before a pairing code came')))

    function finish(conclude: () => void): void {
      clearTimeout(timer)
      for (const event of events) ws.off(event, onAnswer)
      ws.off('close', onClose)
      conclude()
    }

    for (const event of events) ws.on(event, onAnswer)
    ws.on('close', onClose)
  })
}

function errorOf({ attrs, content }: BinaryNode): string | undefined {
  if (attrs.type !== 'error') return undefined
  const error = Array.isArray(content) ? content.find(({ tag }) => tag === 'error') : undefined
  return error?.attrs.code ?? 'unknown'
}
