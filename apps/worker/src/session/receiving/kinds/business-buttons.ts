import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { textCharsMax } from './read-kind.ts'

type Button = NonNullable<MessageContent['buttons']>[number]
type Text = string | null | undefined

/** As the message has it: not yet cleaned. */
export type GivenButton = { [Field in keyof Button]: Text }

export const buttonsMax = 20

export function readButtons(given: GivenButton[], cleaner: Cleaner): Button[] {
  return cleaner.list(given, buttonsMax).map(({ type, title, id, url, number, code }) => ({
    type: cleaner.text(type ?? 'reply', textCharsMax),
    title: cleaner.optional(title, textCharsMax),
    id: cleaner.optional(id, textCharsMax),
    url: cleaner.optional(url, textCharsMax),
    number: cleaner.optional(number, textCharsMax),
    code: cleaner.optional(code, textCharsMax),
  }))
}

export function givenButton(
  type: Text,
  title: Text,
  { id, url, number, code }: { id?: Text; url?: Text; number?: Text; code?: Text },
): GivenButton {
  return { type, title, id, url, number, code }
}

/** The names that WhatsApp has for buttons, where there is a plainer word. */
const plainNames: Record<string, string> = {
  quick_reply: 'reply',
  cta_url: 'url',
  cta_call: 'call',
  cta_copy: 'copy',
}

type GivenSection = { title: string | null; rows: proto.Message.ListMessage.IRow[] }

/** `list`: of a button that opens one. */
export function flowButton({
  name,
  buttonParamsJson,
}: proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton): {
  button: GivenButton
  list?: { button: Text; sections: GivenSection[] }
} {
  const params = parseObject(buttonParamsJson)
  const title = textIn(params, 'display_text') ?? textIn(params, 'title')
  const button = givenButton((name && plainNames[name]) ?? name, title, {
    id: textIn(params, 'id'),
    url: textIn(params, 'url'),
    number: textIn(params, 'phone_number'),
    code: textIn(params, 'copy_code') ?? textIn(params, 'otp_code'),
  })
  const sections = listIn(params, 'sections').map((section) => ({
    title: textIn(section, 'title'),
    rows: listIn(section, 'rows').map((row) => ({
      rowId: textIn(row, 'id'),
      title: textIn(row, 'title'),
      description: textIn(row, 'description'),
    })),
  }))
  return sections.length > 0 ? { button, list: { button: title, sections } } : { button }
}

const jsonCharsMax = 65_536

/** Undefined for what is no object, and for one that is too large to be parsed while others wait. */
export function parseObject(json: Text): object | undefined {
  if (!json || json.length > jsonCharsMax) return undefined
  try {
    const parsed: unknown = JSON.parse(json)
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

const fieldOf = (given: object | undefined, name: string): unknown =>
  given && Object.hasOwn(given, name) ? given[name as keyof typeof given] : undefined

/** Null for a field that is missing or no text. */
export function textIn(given: object | undefined, name: string): string | null {
  const value = fieldOf(given, name)
  return typeof value === 'string' ? value : null
}

function listIn(given: object | undefined, name: string): object[] {
  const value = fieldOf(given, name)
  return Array.isArray(value)
    ? value.filter((item): item is object => typeof item === 'object' && item !== null)
    : []
}
