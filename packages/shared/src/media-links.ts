import { createHmac, timingSafeEqual } from 'node:crypto'

/** A message of an account, whose file a link leads to. */
export type LinkedMedia = { accountId: number; messageId: string }

type Query = { id: string; expires: string; signature: string }

const hourSeconds = 3600

/**
 * The query of a link that is valid for one to two hours. It is the same within an hour, so that a file that is linked twice
 * is cached once.
 */
export function signMediaLink(key: Buffer, media: LinkedMedia, nowMs = Date.now()): string {
  const expires = String((Math.ceil(nowMs / 1000 / hourSeconds) + 1) * hourSeconds)
  const signature = `${media.accountId}.${sign(key, media, expires)}`
  return new URLSearchParams({ id: media.messageId, expires, signature }).toString()
}

/** Undefined for a link that was changed, was signed with another key or has expired. */
export function openMediaLink(key: Buffer, query: Query, nowMs = Date.now()): LinkedMedia | undefined {
  const [, accountId, signature] = /^([1-9]\d{0,9})\.([\w-]{43})$/.exec(query.signature) ?? []
  if (!accountId || !signature || !/^\d{1,12}$/.test(query.expires)) return undefined
  const media = { accountId: Number(accountId), messageId: query.id }
  const expected = Buffer.from(sign(key, media, query.expires))
  if (!timingSafeEqual(Buffer.from(signature), expected)) return undefined
  return Number(query.expires) * 1000 > nowMs ? media : undefined
}

/** `publicUrl`: undefined for links without a host. */
export function makeMediaLinker(key: Buffer, publicUrl: string | undefined) {
  return (media: LinkedMedia): string => `${publicUrl ?? ''}/media?${signMediaLink(key, media)}`
}

function sign(key: Buffer, { accountId, messageId }: LinkedMedia, expires: string): string {
  return createHmac('sha256', key).update(`${accountId}\n${messageId}\n${expires}`).digest('base64url')
}
