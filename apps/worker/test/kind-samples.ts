import { proto } from 'baileys'
import { businessSamples, file, picture } from './business-samples.ts'

const key = { id: '3EB0C767D26A1A2B3C4D', fromMe: false, remoteJid: '4915112345678@s.whatsapp.net' }
const { CallOutcome } = proto.Message.CallLogMessage
const { CallType } = proto.Message.ScheduledCallCreationMessage

/** One of each kind that a person can read, by the field of the protocol and what it is called in the documentation. */
export const kindSamples: [title: string, message: proto.IMessage][] = [
  ['A text', { conversation: 'Hello' }],
  [
    'A text with a preview of its link',
    {
      extendedTextMessage: {
        text: 'See https://example.com/lamp',
        matchedText: 'https://example.com/lamp',
        title: 'Lamp',
        description: 'Brass, 40 euros',
      },
    },
  ],
  ['A picture', { imageMessage: { ...picture, caption: 'The new sign' } }],
  ['A video', { videoMessage: { ...file, mimetype: 'video/mp4', caption: 'The sign, lit' } }],
  ['A video note', { ptvMessage: { ...file, mimetype: 'video/mp4' } }],
  [
    'A voice note or an audio file',
    { audioMessage: { ...file, mimetype: 'audio/ogg', ptt: true, seconds: 7 } },
  ],
  [
    'A document with a caption',
    {
      documentWithCaptionMessage: {
        message: {
          documentMessage: {
            ...file,
            mimetype: 'application/pdf',
            fileName: 'Invoice.pdf',
            caption: 'Our invoice',
          },
        },
      },
    },
  ],
  ['A sticker', { stickerMessage: { ...file, mimetype: 'image/webp' } }],
  [
    'An animated sticker',
    { lottieStickerMessage: { message: { stickerMessage: { ...file, mimetype: 'image/webp' } } } },
  ],
  ['A location', { locationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4, name: 'Office' } }],
  [
    'The beginning of a live location',
    { liveLocationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4, caption: 'On my way' } },
  ],
  [
    'A contact card',
    { contactMessage: { displayName: 'Ada', vcard: 'BEGIN:VCARD\nTEL:+49 151 1234\nEND:VCARD' } },
  ],
  [
    'Several contact cards',
    {
      contactsArrayMessage: {
        displayName: '2 contacts',
        contacts: [{ displayName: 'Ada' }, { displayName: 'Ben' }],
      },
    },
  ],
  [
    'A poll',
    {
      pollCreationMessageV3: {
        name: 'Which day?',
        options: [{ optionName: 'Monday' }, { optionName: 'Tuesday' }],
        selectableOptionsCount: 1,
      },
    },
  ],
  [
    'A result of a poll',
    {
      pollResultSnapshotMessage: {
        name: 'Which day?',
        pollVotes: [{ optionName: 'Monday', optionVoteCount: 2 }],
      },
    },
  ],
  ...businessSamples,
  [
    'An invitation to a group',
    {
      groupInviteMessage: {
        groupJid: '120363000000000000@g.us',
        inviteCode: 'AbCdEfGh',
        groupName: 'Neighbours',
        caption: 'Join our group',
        inviteExpiration: 1_800_000_000,
      },
    },
  ],
  [
    'An invitation to a channel',
    {
      newsletterFollowerInviteMessageV2: {
        newsletterJid: '120363000000000000@newsletter',
        newsletterName: 'News',
        caption: 'Follow us',
      },
    },
  ],
  [
    'An invitation to manage a channel',
    {
      newsletterAdminInviteMessage: {
        newsletterJid: '120363000000000000@newsletter',
        newsletterName: 'News',
        inviteExpiration: 1_800_000_000,
      },
    },
  ],
  [
    'An order',
    {
      orderMessage: {
        orderId: '77',
        orderTitle: 'Lamp',
        message: 'I would like this',
        itemCount: 2,
        totalAmount1000: 80_000,
        totalCurrencyCode: 'EUR',
      },
    },
  ],
  [
    'A product',
    {
      productMessage: {
        body: 'Is it there?',
        product: {
          productId: '5',
          title: 'Lamp',
          description: 'Brass',
          priceAmount1000: 40_000,
          currencyCode: 'EUR',
          url: 'https://example.com/lamp',
          productImage: picture,
        },
      },
    },
  ],
  [
    'An invoice',
    {
      invoiceMessage: {
        note: 'For October',
        attachmentDirectPath: '/v/t62/invoice',
        attachmentMimetype: 'application/pdf',
        attachmentType: proto.Message.InvoiceMessage.AttachmentType.PDF,
      },
    },
  ],
  [
    'A request for a payment',
    {
      requestPaymentMessage: {
        noteMessage: { conversation: 'Lunch' },
        amount: { value: 1250, offset: 100, currencyCode: 'EUR' },
      },
    },
  ],
  [
    'A payment',
    {
      sendPaymentMessage: {
        noteMessage: { extendedTextMessage: { text: 'Thanks' } },
        requestMessageKey: key,
      },
    },
  ],
  ['A declined request', { declinePaymentRequestMessage: { key } }],
  ['A canceled request', { cancelPaymentRequestMessage: { key } }],
  ['An invitation to pay here', { paymentInviteMessage: {} }],
  [
    'An event',
    {
      eventMessage: {
        name: 'Open day',
        description: 'Come and see',
        startTime: 1_800_000_000,
        joinLink: 'https://example.com/call',
        location: { degreesLatitude: 52.5, degreesLongitude: 13.4, name: 'Office' },
      },
    },
  ],
  [
    'A call in the chat',
    { callLogMesssage: { isVideo: true, callOutcome: CallOutcome.MISSED, durationSecs: 0 } },
  ],
  [
    'A planned call',
    {
      scheduledCallCreationMessage: {
        title: 'Measurements',
        callType: CallType.VOICE,
        scheduledTimestampMs: 1_800_000_000_000,
      },
    },
  ],
  ['A planned call that was canceled', { scheduledCallEditMessage: { key } }],
  ['A call to many', { bcallMessage: { caption: 'Our live show' } }],
  [
    'A pack of stickers',
    {
      stickerPackMessage: { name: 'Cats', publisher: 'Ada', packDescription: 'Ten cats', stickers: [{}, {}] },
    },
  ],
  [
    'An answer of an assistant',
    {
      richResponseMessage: {
        submessages: [
          { messageText: 'Like this:' },
          { codeMetadata: { codeBlocks: [{ codeContent: 'print(1)' }] } },
        ],
      },
    },
  ],
  ['A comment', { commentMessage: { message: { conversation: 'Well done' }, targetMessageKey: key } }],
  ['A request for the phone number', { requestPhoneNumberMessage: {} }],
  ['A chat that was shared', { chat: { displayName: 'Ada', id: '1' } }],
  ['An answer to a question of a channel', { questionResponseMessage: { key, text: 'In May' } }],
  ['An answer to a question of a status', { statusQuestionAnswerMessage: { key, text: 'Blue' } }],
  ['A quoted status', { statusQuotedMessage: { text: 'What a day', originalStatusId: key } }],
  ['A sticker on a status', { statusStickerInteractionMessage: { key } }],
  [
    'A mention in a status',
    {
      statusMentionMessage: {
        message: {
          protocolMessage: { key, type: proto.Message.ProtocolMessage.Type.STATUS_MENTION_MESSAGE },
        },
      },
    },
  ],
  ['A template that only a phone may show', { placeholderMessage: {} }],
  ['A kind that this version does not know', { ephemeralMessage: { message: {} } }],
]
