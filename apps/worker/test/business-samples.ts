import type { proto } from 'baileys'

export const file = {
  directPath: '/v/t62/file?oe=1',
  mediaKey: Buffer.alloc(32, 1),
  fileSha256: Buffer.alloc(32, 2),
  fileLength: 1234,
}
export const picture = { ...file, mimetype: 'image/jpeg' }
const section = { title: 'Today', rows: [{ rowId: 't1', title: '10:00', description: 'with Ada' }] }
const hsm = (...params: string[]) => ({ elementName: 'order_update', params })

/** What programs of businesses write, and the answers to it. */
export const businessSamples: [title: string, message: proto.IMessage][] = [
  [
    'A message with buttons of a business, such as one with a one-time code',
    {
      interactiveMessage: {
        header: { title: 'Example Shop' },
        body: { text: 'Your code is 123456' },
        footer: { text: 'It expires in 10 minutes' },
        nativeFlowMessage: {
          buttons: [
            { name: 'cta_copy', buttonParamsJson: '{"display_text":"Copy code","copy_code":"123456"}' },
            { name: 'quick_reply', buttonParamsJson: '{"display_text":"Not me","id":"not-me"}' },
          ],
        },
      },
    },
  ],
  [
    'A row of cards',
    {
      interactiveMessage: {
        body: { text: 'Our offers' },
        carouselMessage: {
          cards: [
            {
              header: { title: 'Lamp' },
              body: { text: '40 euros' },
              nativeFlowMessage: {
                buttons: [
                  {
                    name: 'cta_url',
                    buttonParamsJson: '{"display_text":"Buy","url":"https://example.com/lamp"}',
                  },
                ],
              },
            },
          ],
        },
      },
    },
  ],
  [
    'A template',
    {
      templateMessage: {
        hydratedTemplate: {
          imageMessage: picture,
          hydratedContentText: 'Your parcel is on its way.',
          hydratedFooterText: 'Example Shop',
          hydratedButtons: [
            { urlButton: { displayText: 'Track', url: 'https://example.com/p/1' } },
            { callButton: { displayText: 'Call us', phoneNumber: '+49 30 1234' } },
            { quickReplyButton: { displayText: 'Stop', id: 'stop' } },
          ],
        },
      },
    },
  ],
  [
    'A template without its text',
    {
      templateMessage: {
        fourRowTemplate: {
          content: hsm('Ada', 'Monday'),
          buttons: [{ quickReplyButton: { displayText: hsm('Yes'), id: 'yes' } }],
        },
      },
    },
  ],
  ['An older template', { highlyStructuredMessage: hsm('Ada', 'Monday') }],
  [
    'A text with simple buttons',
    {
      buttonsMessage: {
        text: 'Delivery',
        contentText: 'When may we come?',
        footerText: 'Example Shop',
        buttons: [{ buttonId: 'am', buttonText: { displayText: 'Morning' } }],
      },
    },
  ],
  [
    'A list',
    {
      listMessage: {
        title: 'Appointments',
        description: 'Choose a time',
        buttonText: 'Times',
        footerText: 'Example Shop',
        sections: [section],
      },
    },
  ],
  ['A chosen button', { buttonsResponseMessage: { selectedButtonId: 'am', selectedDisplayText: 'Morning' } }],
  [
    'A chosen button of a template',
    { templateButtonReplyMessage: { selectedId: 'stop', selectedDisplayText: 'Stop' } },
  ],
  [
    'A chosen entry of a list',
    { listResponseMessage: { title: '10:00', singleSelectReply: { selectedRowId: 't1' } } },
  ],
  [
    'A form that was filled in',
    {
      interactiveResponseMessage: {
        body: { text: 'Sent' },
        nativeFlowResponseMessage: { name: 'flow', paramsJson: '{"flow_token":"a1","city":"Berlin"}' },
      },
    },
  ],
  [
    'A product of a business, with buttons',
    {
      interactiveMessage: {
        header: {
          title: 'New',
          productMessage: { product: { productId: '5', title: 'Lamp', productImage: picture } },
        },
        body: { text: 'Do you like it?' },
        nativeFlowMessage: {
          buttons: [
            {
              name: 'single_select',
              buttonParamsJson:
                '{"title":"Times","sections":[{"title":"Today","rows":[{"id":"t1","title":"10:00","description":"with Ada"}]}]}',
            },
          ],
        },
      },
    },
  ],
  [
    'A message from an advertisement',
    {
      extendedTextMessage: {
        text: 'Is the lamp still there?',
        contextInfo: {
          externalAdReply: {
            title: 'Lamps',
            body: 'From 40 euros',
            sourceType: 'ad',
            sourceId: '12',
            ctwaClid: 'Ab1',
          },
          mentionedJid: ['4915112345678@s.whatsapp.net'],
          forwardingScore: 2,
          expiration: 86_400,
        },
      },
    },
  ],
]
