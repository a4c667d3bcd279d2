import { setTimeout as delay } from 'node:timers/promises'
import type { MessageFacts } from '@wagate/test-kit/load/records'
import { expect, it } from 'vitest'
import { note } from './figures.ts'
import { baselineForMs, growthDuring, p99BeforeMs, p99Ms, undisturbedMs } from './measures.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'
import { mediaMemoryMib } from './settings.ts'
import { isShort } from './size.ts'
import { trial } from './trial.ts'
import type { World } from './world.ts'

/** What can never be sent: with what the message fails, and in which time. */
const refusals = [
  { path: '/endless', code: 'media_too_large', withinMs: 15_000 },
  { path: '/bomb', code: 'media_fetch_failed', withinMs: 5000 },
  { path: '/circle', code: 'media_fetch_failed', withinMs: 5000 },
  { path: '/to-file', code: 'media_url_forbidden', withinMs: 5000 },
  { path: '/to-loopback', code: 'media_url_forbidden', withinMs: 5000 },
]

/** A caption begins with the path that was asked for. */
function isRefusal({ body, errorCode }: MessageFacts): boolean {
  const [path = ''] = body?.split(' ') ?? []
  return refusals.some((refusal) => refusal.path === path && refusal.code === errorCode)
}

/** Until a fetch that does not end is given up, with a margin. */
const fetchMsMax = 17_000

/** So many a sender may fetch at a time. */
const uploadsMax = 4
/** Of files that nothing is wrong with. */
const sentWithinMs = 5000
const filesMax = 6
/** Texts of processes that have just started take longer than any media host makes them. */
const warmUpMs = 15_000 + baselineForMs
/** All at the same time would tell how much CPU is left on the machine, and nothing of media hosts. */
const apartMs = 100
const waitSeconds = 20
const heavyPerSender = 2

export function mediaFaults(find: () => World): void {
  // Fails when senders share the places for uploads, when nothing bounds the memory for media, and when a message fails
  // with the first attempt to fetch its file.
  it.skipIf(isShort)('24: media hosts answer slowly, wrongly or without end', async () => {
    const world = find()
    const host = await openMediaHost()
    const [bound = '', ...others] = world.senders
    await greetContacts(world, bound)
    const tookMs = new Map<string, number>()
    let beganAtMs = 0
    let checkedAtMs = 0
    let heavyMib = 0
    const fault = async () => {
      await delay(warmUpMs)
      beganAtMs = Date.now()
      // One sender waits for all that it may fetch at a time, and has more.
      const drips = Array.from({ length: uploadsMax + 1 }, () =>
        send(world, { host, sender: bound, path: '/drip' }),
      )
      await Promise.all(drips)
      const asked = refusals.map(async ({ path, code, withinMs }, index) => {
        await delay(index * apartMs)
        const media = { host, sender: others[index % others.length] ?? '', path }
        tookMs.set(path, await sendAndWait(world, media, { status: 'failed', code, withinMs }))
      })
      const good = others.slice(0, filesMax).map(async (sender, index) => {
        await delay((refusals.length + index) * apartMs)
        const end = { status: 'sent', code: undefined, withinMs: sentWithinMs } as const
        return sendAndWait(world, { host, sender, path: '/file' }, end)
      })
      tookMs.set('/file', Math.max(...(await Promise.all(good))))
      await Promise.all(asked)
      await send(world, { host, sender: others.at(-1) ?? '', path: '/truncated' })
      await delay(Math.max(0, beganAtMs + fetchMsMax - Date.now()))
      checkedAtMs = Date.now()
      heavyMib = (await growthDuring(world, () => sendHeavy(world, host))).rssMib
      host.heal()
    }
    const found = trial(world, '24 media hosts', fault, { mayFail: isRefusal })
    const { messages, texts } = await found.finally(host.close)
    const baselineMs = p99BeforeMs(texts, world.senders, beganAtMs)
    const textMs = p99Ms(texts, world.senders, beganAtMs, checkedAtMs)
    const onlyOneBoundMs = p99Ms(texts, world.senders, beganAtMs + sentWithinMs, checkedAtMs)
    note('24 media hosts', {
      ...Object.fromEntries([...tookMs].map(([path, ms]) => [`${path} ms`, ms])),
      'p99 of texts ms': textMs,
      'p99 of texts while only one sender is bound ms': onlyOneBoundMs,
      'p99 of texts before ms': baselineMs,
      'RSS grew MiB': heavyMib,
    })
    const late = messages.filter(({ body }) => /^\/(drip|heavy-drip|truncated) /.test(body ?? ''))
    expect(late).toHaveLength(uploadsMax + 2 + heavyPerSender * world.senders.length)
    expect(host.secretsGiven()).toBe(0)
    expect(textMs).toBeLessThan(undisturbedMs(baselineMs))
    // What was given back may still be garbage when others take it.
    expect(heavyMib).toBeLessThan(2 * mediaMemoryMib + 50)
  })
}

let sent = 0
const sentBy = new Map<string, number>()
const greetedPerSender = 2
const contactsPerSender = uploadsMax + 1

/** Each file in flight of a sender goes to another contact. */
function contactOf({ senders }: World, sender: string, index: number): string {
  return String(15_570_000_000 + senders.indexOf(sender) * contactsPerSender + index)
}

/** What a new contact costs is much, and nothing that a media host does. */
async function greetContacts(world: World, bound: string): Promise<void> {
  const { senders, gateway } = world
  const greetings = senders.flatMap((sender) =>
    Array.from({ length: sender === bound ? contactsPerSender : greetedPerSender }, (_, index) => {
      const number = contactOf(world, sender, index)
      return gateway.call('send-message', { sender, number, message: 'Hello', wait: waitSeconds })
    }),
  )
  for (const { body } of await Promise.all(greetings)) expect(['sent', 'delivered']).toContain(body.status)
}

type Media = { host: MediaHost; sender: string; path: string; wait?: number }

async function send(world: World, { host, sender, path, wait = 0 }: Media): Promise<string> {
  sent += 1
  const ofSender = sentBy.get(sender) ?? 0
  sentBy.set(sender, ofSender + 1)
  const { status, body } = await world.gateway.call('send-media', {
    sender,
    number: contactOf(world, sender, ofSender % contactsPerSender),
    type: 'document',
    url: host.url(path),
    caption: `${path} ${sent} ${Date.now()}`,
    wait,
  })
  if (status !== 200) throw new Error(`Not accepted: ${JSON.stringify(body)}`)
  return String(body.message_id)
}

type End = { status: 'sent' | 'failed'; code: string | undefined; withinMs: number }

/** Without asking again and again: that would be as much work for the system as the messages whose pace is measured. */
async function sendAndWait(world: World, media: Media, end: End): Promise<number> {
  const startedAt = performance.now()
  const messageId = await send(world, { ...media, wait: waitSeconds })
  const tookMs = performance.now() - startedAt
  const { body } = await world.gateway.call('message-status', { message_id: messageId })
  expect(body.error_code ?? undefined).toBe(end.code)
  expect(end.status === 'sent' ? ['sent', 'delivered'] : [end.status]).toContain(body.status)
  expect(tookMs).toBeLessThan(end.withinMs)
  return tookMs
}

/** More than the memory for media, from all senders, and each takes its whole time. */
async function sendHeavy(world: World, host: MediaHost): Promise<void> {
  for (let count = 0; count < heavyPerSender; count++) {
    await Promise.all(world.senders.map((sender) => send(world, { host, sender, path: '/heavy-drip' })))
  }
  await delay(40_000)
}
