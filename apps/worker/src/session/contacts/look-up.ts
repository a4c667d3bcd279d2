import { isSameSubscriber } from '@wagate/shared/phone'
import {
  type BinaryNode,
  getBinaryNodeChild,
  getBinaryNodeChildren,
  jidNormalizedUser,
  type WASocket,
} from 'baileys'
import { userOf } from './jids.ts'

/** JIDs by number; null when WhatsApp says that the number has no account. Numbers without an answer are absent. */
export type LookUpAnswer = Map<string, string | null>

export type LookUp = (numbers: string[]) => Promise<LookUpAnswer>

/** WhatsApp answered a look-up with an error instead of a list. */
export class LookUpRefused extends Error {
  readonly code: number
  /** How long WhatsApp asks us to wait; 0 when it does not say. */
  readonly backoffMs: number

  constructor({ attrs }: BinaryNode) {
    super(`WhatsApp refused a look-up of numbers (error ${attrs.code})`)
    this.name = 'LookUpRefused'
    this.code = Number(attrs.code)
    this.backoffMs = Math.max(0, Number(attrs.backoff) || 0) * 1000
  }
}

/** WhatsApp gave no answer in time. */
export class LookUpUnanswered extends Error {
  constructor() {
    super('WhatsApp did not answer a look-up of numbers')
    this.name = 'LookUpUnanswered'
  }
}

const answerMs = 20_000

/**
 * Asks WhatsApp which numbers have an account. The stanzas are built and read here because Baileys drops errors,
 * back-off times and the difference between a number without an account and one without an answer.
 */
export function makeLookUp(sock: WASocket): LookUp {
  return async (numbers) => {
    const id = sock.generateMessageTag()
    const answered = sock.waitForMessage<BinaryNode>(id, answerMs)
    // It may reject before it is awaited: when the connection closes while the query is being written.
    answered.catch(() => undefined)
    await sock.sendNode(queryOf(id, sock.generateMessageTag(), numbers))
    const answer = await answered
    if (!answer) throw new LookUpUnanswered()
    return readLookUp(answer, numbers)
  }
}

function queryOf(id: string, sid: string, numbers: string[]): BinaryNode {
  const users = numbers.map((number) => ({
    tag: 'user',
    attrs: {},
    content: [{ tag: 'contact', attrs: {}, content: `+${number}` }],
  }))
  return {
    tag: 'iq',
    attrs: { id, to: 's.whatsapp.net', type: 'get', xmlns: 'usync' },
    content: [
      {
        tag: 'usync',
        attrs: { context: 'interactive', mode: 'query', sid, last: 'true', index: '0' },
        content: [
          { tag: 'query', attrs: {}, content: [{ tag: 'contact', attrs: {} }] },
          { tag: 'list', attrs: {}, content: users },
        ],
      },
    ],
  }
}

/** Throws LookUpRefused for an error of the whole query. An error of one number leaves out only that number. */
export function readLookUp(answer: BinaryNode, asked: string[]): LookUpAnswer {
  const usync = getBinaryNodeChild(answer, 'usync')
  const protocol = getBinaryNodeChild(getBinaryNodeChild(usync, 'result'), 'contact')
  const error = getBinaryNodeChild(answer, 'error') ?? getBinaryNodeChild(protocol, 'error')
  if (error) throw new LookUpRefused(error)

  const found: LookUpAnswer = new Map()
  for (const user of getBinaryNodeChildren(getBinaryNodeChild(usync, 'list'), 'user')) {
    const contact = getBinaryNodeChild(user, 'contact')
    const type = contact?.attrs.type
    const jid = jidNormalizedUser(user.attrs.jid)
    if (type !== 'in' && type !== 'out') continue
    const number = numberOf(contact, jid, asked)
    if (number !== undefined && (jid || type === 'out')) found.set(number, type === 'in' ? jid : null)
  }
  return found
}

/**
 * The number that an entry of the answer is about: the one that it repeats. If it repeats none, WhatsApp may have
 * answered with another form of the number (Brazil, Mexico, Argentina), which must match exactly one of those asked for.
 */
function numberOf(contact: BinaryNode | undefined, jid: string, asked: string[]): string | undefined {
  const repeated = textOf(contact?.content).replace(/\D/g, '')
  if (asked.includes(repeated)) return repeated
  const user = userOf(jid)
  if (asked.includes(user)) return user
  const variants = asked.filter((number) => isSameSubscriber(number, user))
  return variants.length === 1 ? variants[0] : undefined
}

function textOf(content: BinaryNode['content']): string {
  if (typeof content === 'string') return content
  return content instanceof Uint8Array ? Buffer.from(content).toString() : ''
}
