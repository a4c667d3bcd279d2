import { type NodeContent, node, nowSeconds } from '../wire/node.ts'

/** The answers for an account without a picture, a business and groups. */
export const profileAnswers: Record<string, () => NodeContent | undefined> = {
  'w get props': () => [node('props', { version: '1', hash: 'sim', refresh: '86400' })],
  'w:profile:picture set picture': () => [node('picture', { id: nowSeconds() })],
  'w:biz get business_profile': () => [node('business_profile', { v: '244' })],
  'status set status': () => undefined,
  'w:g2 get participating': () => [node('groups')],
}

const itemNotFound = node('error', { code: '404', text: 'item-not-found' })
const forbidden = node('error', { code: '403', text: 'forbidden' })

/** The refusal of a request for something that does not exist. */
export function findProfileRefusal(kind: string): ReturnType<typeof node> | undefined {
  if (kind === 'w:profile:picture get picture') return itemNotFound
  if (kind === 'w:g2 set create') return forbidden
  return kind.startsWith('w:g2 ') && !(kind in profileAnswers) ? itemNotFound : undefined
}
