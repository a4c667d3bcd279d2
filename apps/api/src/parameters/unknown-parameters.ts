import type { z } from 'zod'
import { bare, findNearest, shown } from './nearest-name.ts'

/** What other gateways call a parameter. */
const otherNames: Record<string, readonly string[]> = {
  number: [
    'to',
    'phone',
    'phonenumber',
    'recipient',
    'receiver',
    'chatid',
    'jid',
    'msisdn',
    'mobile',
    'numbers',
  ],
  numbers: ['number', 'phones', 'to', 'recipients'],
  message: ['text', 'body', 'content', 'msg', 'messagetext'],
  sender: ['from', 'session', 'sessionid', 'sessionname', 'instance', 'instanceid', 'phone', 'number'],
  url: [
    'media',
    'mediaurl',
    'fileurl',
    'link',
    'image',
    'document',
    'video',
    'audio',
    'webhook',
    'webhookurl',
  ],
  type: ['mediatype', 'kind', 'mimetype', 'mime'],
  types: ['events', 'type', 'event', 'eventtypes'],
  filename: ['file', 'name'],
  caption: ['text', 'message', 'body'],
  reply_to: ['quoted', 'quotedmessageid', 'replyid', 'contextmessageid'],
  send_at: ['schedule', 'scheduled', 'scheduledat', 'at', 'date', 'time', 'delay'],
  message_id: ['id', 'msgid', 'key'],
  device_ids: ['devices', 'device', 'deviceid'],
  limit: ['count', 'pagesize', 'perpage', 'size'],
  user_id: ['id', 'account', 'accountid'],
  webhook_id: ['id'],
  key_id: ['id'],
}

/** A body of 24 MiB may contain a million unknown parameters. */
const namedMax = 100
const namedInSentenceMax = 10

type Unknown = { name: string; nearest: string | undefined }

/** Unknown parameters are not an error, but callers should notice misspelled ones. */
export function warnOfUnknown(schema: z.ZodObject, given: Map<string, unknown>): string[] {
  const { named, more } = findUnknown(schema, given, namedMax)
  const warnings = named.map(
    ({ name, nearest }) =>
      `Unknown parameter "${name}" was ignored.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`,
  )
  return more > 0 ? [...warnings, `${more} more unknown parameters were ignored.`] : warnings
}

/** For the error of a failed request: `; unknown: to, text: did you mean number, message?` */
export function sentenceOfUnknown(schema: z.ZodObject, given: Map<string, unknown>): string {
  const { named, more } = findUnknown(schema, given, namedInSentenceMax)
  if (named.length === 0) return ''
  const names = [...named.map(({ name }) => shown(name)), ...(more > 0 ? [`${more} more`] : [])]
  const meant = new Set(named.flatMap(({ nearest }) => nearest ?? []))
  const question = meant.size > 0 ? `: did you mean ${[...meant].join(', ')}?` : ''
  return `; unknown: ${names.join(', ')}${question}`
}

function findUnknown(
  { shape }: z.ZodObject,
  given: Map<string, unknown>,
  max: number,
): { named: Unknown[]; more: number } {
  const unknown = [...given.keys()].filter((name) => !Object.hasOwn(shape, name))
  const free = Object.keys(shape).filter((name) => !given.has(name))
  const named = unknown
    .slice(0, max)
    .map((name) => ({ name: name.slice(0, 100), nearest: meantBy(name, free) }))
  return { named, more: unknown.length - named.length }
}

/** One of the known names that the request does not have. */
function meantBy(name: string, free: readonly string[]): string | undefined {
  const nearest = findNearest(name, free)
  if (nearest !== undefined || name.length > 40) return nearest
  return free.find((known) => otherNames[known]?.includes(bare(name)))
}
