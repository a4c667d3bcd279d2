import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { type GivenButton, givenButton } from './business-buttons.ts'
import { readBusiness, readInteractive } from './business-kinds.ts'
import { type ReadKind, textCharsMax } from './read-kind.ts'

export function readTemplate(given: proto.Message.ITemplateMessage, cleaner: Cleaner): ReadKind {
  const { interactiveMessageTemplate, fourRowTemplate } = given
  const hydrated = given.hydratedTemplate ?? given.hydratedFourRowTemplate
  if (hydrated) {
    return readBusiness(
      {
        kind: 'template',
        header: hydrated.hydratedTitleText,
        text: hydrated.hydratedContentText,
        footer: hydrated.hydratedFooterText,
        buttons: (hydrated.hydratedButtons ?? []).map(templateButton),
        attached: hydrated,
      },
      cleaner,
    )
  }
  if (interactiveMessageTemplate) {
    const read = readInteractive(interactiveMessageTemplate, cleaner)
    return { ...read, content: { ...read.content, kind: 'template' } }
  }
  const main = fourRowTemplate?.content ?? fourRowTemplate?.highlyStructuredMessage
  const template = main && readValues(main, cleaner)
  return readBusiness(
    {
      kind: 'template',
      header: textOfHsm(main === fourRowTemplate?.content ? fourRowTemplate?.highlyStructuredMessage : null),
      text: textOfHsm(main),
      footer: textOfHsm(fourRowTemplate?.footer),
      buttons: (fourRowTemplate?.buttons ?? []).map(({ quickReplyButton, urlButton, callButton }) =>
        templateButton({
          quickReplyButton: quickReplyButton && {
            id: quickReplyButton.id ?? null,
            displayText: textOfHsm(quickReplyButton.displayText),
          },
          urlButton: urlButton && {
            displayText: textOfHsm(urlButton.displayText),
            url: textOfHsm(urlButton.url),
          },
          callButton: callButton && {
            displayText: textOfHsm(callButton.displayText),
            phoneNumber: textOfHsm(callButton.phoneNumber),
          },
        }),
      ),
      attached: fourRowTemplate,
      content: template ? { template } : {},
    },
    cleaner,
  )
}

/** Each part is missing, or has what its button shows. */
type GivenTemplateButton = {
  quickReplyButton?: proto.HydratedTemplateButton.IHydratedQuickReplyButton | null | undefined
  urlButton?: proto.HydratedTemplateButton.IHydratedURLButton | null | undefined
  callButton?: proto.HydratedTemplateButton.IHydratedCallButton | null | undefined
}

function templateButton({
  quickReplyButton: reply,
  urlButton: url,
  callButton: call,
}: GivenTemplateButton): GivenButton {
  if (url) return givenButton('url', url.displayText, { url: url.url })
  if (call) return givenButton('call', call.displayText, { number: call.phoneNumber })
  return givenButton('reply', reply?.displayText, { id: reply?.id })
}

/** A phone composes its text from a package of the business, which no other device has. */
export function readStructured(given: proto.Message.IHighlyStructuredMessage, cleaner: Cleaner): ReadKind {
  if (given.hydratedHsm) return readTemplate(given.hydratedHsm, cleaner)
  const content = { template: readValues(given, cleaner) }
  return readBusiness({ kind: 'template', text: textOfHsm(given), content }, cleaner)
}

const valuesMax = 20

function listValues({ params, localizableParams }: proto.Message.IHighlyStructuredMessage): string[] {
  const localized = (localizableParams ?? []).map((param) => param.default ?? '')
  return [...(params ?? []), ...localized].filter(Boolean)
}

function textOfHsm(given: proto.Message.IHighlyStructuredMessage | null | undefined): string | null {
  if (!given) return null
  const hydrated = given.hydratedHsm?.hydratedTemplate ?? given.hydratedHsm?.hydratedFourRowTemplate
  return hydrated?.hydratedContentText ?? (listValues(given).join('\n') || null)
}

function readValues(
  given: proto.Message.IHighlyStructuredMessage,
  cleaner: Cleaner,
): NonNullable<MessageContent['template']> {
  return {
    name: cleaner.optional(given.elementName, textCharsMax),
    values: cleaner.list(listValues(given), valuesMax).map((value) => cleaner.text(value, textCharsMax)),
  }
}
