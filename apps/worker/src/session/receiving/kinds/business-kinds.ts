import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { buttonsMax, flowButton, type GivenButton, givenButton, readButtons } from './business-buttons.ts'
import { readLocation } from './common-kinds.ts'
import { readProduct } from './other-kinds.ts'
import { type MessageFile, type ReadKind, textCharsMax } from './read-kind.ts'

/** Messages that programs of businesses write. Each has a text of its own, and often a file and buttons. */

type Given = {
  kind: string
  header?: string | null | undefined
  text?: string | null | undefined
  footer?: string | null | undefined
  buttons?: GivenButton[]
  /** Where its file and its place are. */
  attached?: Attached | null | undefined
  content?: MessageContent
}

type Attached = {
  documentMessage?: proto.Message.IDocumentMessage | null
  imageMessage?: proto.Message.IImageMessage | null
  videoMessage?: proto.Message.IVideoMessage | null
  locationMessage?: proto.Message.ILocationMessage | null
}

export function readBusiness(
  { kind, header, text, footer, buttons, attached, content }: Given,
  cleaner: Cleaner,
): ReadKind {
  const body = text || header || footer
  const above = cleaner.optional(header === body ? null : header, textCharsMax)
  const below = cleaner.optional(footer === body ? null : footer, textCharsMax)
  const file = fileOf(attached)
  const place = attached?.locationMessage && readLocation(attached.locationMessage, cleaner)
  return {
    type: file?.kind ?? (place ? 'location' : 'text'),
    text: body ?? null,
    file,
    content: {
      kind,
      ...place,
      ...(above !== null && { header: above }),
      ...(below !== null && { footer: below }),
      ...(buttons && buttons.length > 0 && { buttons: readButtons(buttons, cleaner) }),
      ...content,
    },
  }
}

function fileOf(attached: Attached | null | undefined): MessageFile | undefined {
  const { imageMessage, videoMessage, documentMessage } = attached ?? {}
  if (imageMessage) return { kind: 'image', described: imageMessage }
  if (videoMessage) return { kind: 'video', described: videoMessage }
  return documentMessage ? { kind: 'document', described: documentMessage } : undefined
}

const cardsMax = 10

export function readInteractive(given: proto.Message.IInteractiveMessage, cleaner: Cleaner): ReadKind {
  const { header, body, footer, nativeFlowMessage, carouselMessage } = given
  const title = [header?.title, header?.subtitle].filter(Boolean).join('\n')
  const { flow, lists } = readFlow(nativeFlowMessage, cleaner)
  const cards = carouselMessage?.cards ?? []
  const [list] = lists
  const product = header?.productMessage && readProduct(header.productMessage, cleaner)
  const read = readBusiness(
    {
      kind: 'interactive',
      header: title || null,
      text: body?.text,
      footer: footer?.text,
      buttons: flow,
      attached: header,
      content: {
        ...(list && { list }),
        ...(product?.content?.product && { product: product.content.product }),
        ...(cards.length > 0 && {
          cards: cleaner.list(cards, cardsMax).map((card) => readCard(card, cleaner)),
        }),
      },
    },
    cleaner,
  )
  return { ...read, text: read.text ?? product?.text, file: read.file ?? product?.file }
}

type List = NonNullable<MessageContent['list']>

function readFlow(
  flow: proto.Message.InteractiveMessage.INativeFlowMessage | null | undefined,
  cleaner: Cleaner,
): { flow: GivenButton[]; lists: List[] } {
  const read = (flow?.buttons ?? []).slice(0, 2 * buttonsMax).map((button) => flowButton(button))
  const lists = read.flatMap(({ list }) => (list ? [readSections(list.button, list.sections, cleaner)] : []))
  return { flow: read.map(({ button }) => button), lists }
}

type Card = NonNullable<MessageContent['cards']>[number]

function readCard(
  { header, body, footer, nativeFlowMessage }: proto.Message.IInteractiveMessage,
  cleaner: Cleaner,
): Card {
  return {
    header: cleaner.optional(header?.title, textCharsMax),
    text: cleaner.optional(body?.text, textCharsMax),
    footer: cleaner.optional(footer?.text, textCharsMax),
    buttons: readButtons(readFlow(nativeFlowMessage, cleaner).flow, cleaner),
  }
}

export function readButtonsMessage(given: proto.Message.IButtonsMessage, cleaner: Cleaner): ReadKind {
  const buttons = (given.buttons ?? []).map(({ buttonId, buttonText, nativeFlowInfo: flow }) =>
    flow?.paramsJson
      ? flowButton({ name: flow.name ?? null, buttonParamsJson: flow.paramsJson }).button
      : givenButton('reply', buttonText?.displayText, { id: buttonId }),
  )
  const { text: header, contentText: text, footerText: footer } = given
  return readBusiness({ kind: 'buttons', header, text, footer, buttons, attached: given }, cleaner)
}

export function readList(given: proto.Message.IListMessage, cleaner: Cleaner): ReadKind {
  const { title, description, footerText, buttonText, sections } = given
  const list = readSections(buttonText, sections ?? [], cleaner)
  return readBusiness(
    { kind: 'list', header: title, text: description, footer: footerText, content: { list } },
    cleaner,
  )
}

const sectionsMax = 10
const rowsMax = 20

type GivenSection = { title?: string | null; rows?: proto.Message.ListMessage.IRow[] | null }

function readSections(
  button: string | null | undefined,
  sections: readonly GivenSection[],
  cleaner: Cleaner,
): List {
  return {
    button: cleaner.optional(button, textCharsMax),
    sections: cleaner.list(sections, sectionsMax).map(({ title, rows }) => ({
      title: cleaner.optional(title, textCharsMax),
      rows: cleaner.list(rows, rowsMax).map((row) => ({
        id: cleaner.optional(row.rowId, textCharsMax),
        title: cleaner.optional(row.title, textCharsMax),
        description: cleaner.optional(row.description, textCharsMax),
      })),
    })),
  }
}
