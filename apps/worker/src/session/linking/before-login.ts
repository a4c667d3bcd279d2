import {
  type AuthenticationCreds,
  type BinaryNode,
  buildAckStanza,
  getBinaryNodeChild,
  S_WHATSAPP_NET,
  type WASocket,
} from 'baileys'
import { intercept } from '../network/intercept.ts'

type Handlers = {
  /** WhatsApp retires the secret of the link. It is told that we know when this resolves. */
  onSecretRetired(): Promise<void>
  /** A person has typed our pairing code. Baileys answers. */
  onCodeTyped(): void
  onError(error: unknown): void
}

/**
 * Acknowledges what WhatsApp notifies a device of before it is linked, as it demands. Baileys does that only for a device
 * that has a number, so it gets no notification but the one that it answers.
 */
export function answerBeforeLogin(
  { ws, sendNode }: Pick<WASocket, 'ws' | 'sendNode'>,
  creds: Pick<AuthenticationCreds, 'account'>,
  { onSecretRetired, onCodeTyped, onError }: Handlers,
): void {
  async function handle(notification: BinaryNode): Promise<void> {
    if (retiresSecret(notification)) await onSecretRetired()
    await sendNode(buildAckStanza(notification))
  }

  intercept(ws, 'CB:notification', (notification, passOn) => {
    const isTyped = isTypedCode(notification)
    if (isTyped) onCodeTyped()
    if (isTyped || isLinked(creds)) void passOn()
    else handle(notification).catch(onError)
  })
}

/** A request for a pairing code sets `me` before that. */
export function isLinked({ account }: Pick<AuthenticationCreds, 'account'>): boolean {
  return account !== undefined
}

/** Not from a person: what it asks for decides who may be linked. */
export function isFromWhatsApp({ attrs }: BinaryNode): boolean {
  return attrs.from === S_WHATSAPP_NET || `@${attrs.from}` === S_WHATSAPP_NET
}

const retiring = 'companion_reg_refresh'

function retiresSecret(notification: BinaryNode): boolean {
  return (
    notification.attrs.type === retiring &&
    isFromWhatsApp(notification) &&
    [retiring, 'pair-device-rotate-qr'].some((tag) => getBinaryNodeChild(notification, tag))
  )
}

function isTypedCode(notification: BinaryNode): boolean {
  const code = getBinaryNodeChild(notification, 'link_code_companion_reg')
  return isFromWhatsApp(notification) && code?.attrs.stage === 'primary_hello'
}
