import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

// Each form in which a phone sends a file, with a real file: from a contact, and from the owner of the sender.

type Fields = Record<string, unknown>
type Event = { type: string; data: { message_id: string; message: Fields } }

const [sender, contact] = ['15552097001', '15552097002']
let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)
afterAll(() => system?.close(), 30_000)

async function write(from: string, content: Fields): Promise<string> {
  const to = from === sender ? contact : sender
  const answer = await gateway.control<Fields>(`/chats/${from}/send`, { to, ...content })
  return String(answer.wa_message_id)
}

const untilEvent = (wanted: string, waId: string) =>
  until(wanted, async () =>
    ((await gateway.get('events')).body.events as Event[]).find(
      ({ type, data }) => type === wanted && data.message?.wa_message_id === waId,
    ),
  )

const recording = 'audio/ogg'

it.each<[string, Fields, Fields, Fields]>([
  ['picture', {}, { type: 'image', caption: '' }, { mime: 'image/jpeg', size: 287 }],
  ['video', {}, { type: 'video', content: { seconds: 2 } }, { mime: 'video/mp4', size: 5134 }],
  ['gif', {}, { type: 'video', content: { seconds: 2, is_gif: true } }, { mime: 'video/mp4', size: 2252 }],
  [
    'video_note',
    {},
    { type: 'video', content: { seconds: 2, is_video_note: true } },
    { mime: 'video/mp4', size: 5134 },
  ],
  ['audio', {}, { type: 'audio', content: { seconds: 2 } }, { mime: recording, size: 1467 }],
  [
    'voice_note',
    {},
    { type: 'audio', content: { seconds: 2, is_voice: true } },
    { mime: recording, size: 1467 },
  ],
  ['sticker', {}, { type: 'sticker', content: null }, { mime: 'image/webp', size: 424 }],
  ['animated_sticker', {}, { type: 'sticker' }, { mime: 'image/webp', size: 884 }],
  [
    'document',
    { text: 'See' },
    { type: 'document', caption: 'See' },
    { mime: 'application/pdf', size: 193, filename: 'page.pdf' },
  ],
  [
    'picture',
    { view_once: 'readable' },
    { type: 'image', content: { is_view_once: true } },
    { mime: 'image/jpeg' },
  ],
  [
    'video',
    { view_once: 'readable' },
    { type: 'video', content: { is_view_once: true, seconds: 2 } },
    { mime: 'video/mp4' },
  ],
  [
    'voice_note',
    { view_once: 'readable' },
    { type: 'audio', content: { is_view_once: true, is_voice: true, seconds: 2 } },
    { mime: recording },
  ],
])('a %s of a phone arrives with its marks and its file %j', async (as, more, message, media) => {
  for (const [from, arrival] of [
    [contact, 'message.received'],
    [sender, 'message.sent_from_phone'],
  ] as const) {
    const waId = await write(from, { as, ...more })
    expect((await untilEvent(arrival, waId)).data.message).toMatchObject({ ...message, unavailable: null })
    const stored = await untilEvent('media.stored', waId)
    expect(stored.data.message).toMatchObject({ media: { state: 'stored', ...media } })
  }
})

it.each(['picture', 'video', 'voice_note'])(
  'a %s that can be opened once is only announced, that of the owner too',
  async (as) => {
    for (const [from, arrival] of [
      [contact, 'message.received'],
      [sender, 'message.sent_from_phone'],
    ] as const) {
      const waId = await write(from, { as, view_once: true })
      expect((await untilEvent(arrival, waId)).data.message).toMatchObject({
        ...{ number: contact, type: 'other', message: null, media: null, unavailable: 'view_once' },
      })
    }
    await until('everything is acknowledged', async () => {
      const phones = await gateway.control<{ number: string; companions: { pending: number }[] }[]>('/phones')
      return phones.find(({ number }) => number === sender)?.companions.every(({ pending }) => pending === 0)
    })
  },
)
