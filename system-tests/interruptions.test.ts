import { readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { makeHostileFile } from '@wagate/test-kit/media/hostile-media'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const poison = 'The text that stops a worker'
const minute = { withinMs: 60_000, everyMs: 100 }
const twoMinutes = { withinMs: 120_000, everyMs: 100 }
const workers = ['worker-1', 'worker-2']

let system: TestSystem
let gateway: GatewayClient

beforeAll(async () => {
  system = await openTestSystem({
    workers: workers.length,
    environment: (name) => ({
      SEND_ACK_TIMEOUT_MS: '300000',
      ...shortLease,
      ...(name.startsWith('worker') && {
        POISON_TEXT: poison,
        NODE_OPTIONS: `--import ${new URL('./stop-at-poison.mjs', import.meta.url).href}`,
      }),
    }),
  })
  gateway = system.gateway
}, 60_000)

afterAll(() => system?.close(), 30_000)

async function restartWhatDied(): Promise<number> {
  const dead = workers.filter((worker) => system.devnet.pid(worker) === undefined)
  for (const worker of dead) await system.devnet.start(worker)
  return dead.length
}

/** Why there were more or fewer deaths than expected. */
function lastLines(): string {
  return [...system.logs()].map(([name, text]) => `${name}:\n${text.slice(-4000)}`).join('\n')
}

it('fails a message that stops four workers, and nothing else', async () => {
  const [sender, ...bystanders] = ['15551100001', '15551100002', '15551100003', '15551100004'] as const
  await Promise.all([sender, ...bystanders].map(gateway.link))
  // They wait for their answers when the first worker ends.
  await system.phones.fault({ kind: 'ack_delay', ms: 1500 })
  const beside = [...bystanders, sender].flatMap((from) =>
    Array.from({ length: 6 }, (_, index) => gateway.send(from, `1555110010${index}`, `from ${from}`)),
  )
  const bad = await gateway.send(sender, '15551100200', poison)
  const behind = await gateway.send(sender, '15551100200', 'behind the poison')
  let deaths = 0
  const failed = await until('the poison has failed', twoMinutes, async () => {
    deaths += await restartWhatDied()
    const message = await gateway.messageStatus(bad)
    return message.status === 'failed' && message
  })
  expect(failed.error_code).toBe('message_stops_workers')
  expect(deaths, lastLines()).toBe(4)
  await system.phones.clearFaults()
  const ids = [...(await Promise.all(beside)), behind]
  const states = await until('all others arrive', minute, async () => {
    const found = await Promise.all(ids.map(gateway.messageStatus))
    return found.every(({ status }) => status === 'delivered') && found
  })
  const shown = await Promise.all(
    [...new Set(states.map(({ number }) => number))].map((number) => gateway.phone(number)),
  )
  const waIds = shown.flat().map(({ wa_message_id }) => wa_message_id)
  expect(waIds.toSorted()).toEqual(states.map(({ wa_message_id }) => wa_message_id).toSorted())
  expect(await restartWhatDied()).toBe(0)
}, 200_000)

it('fails a text to a known contact that stops five workers', async () => {
  const [sender, contact] = ['15551100008', '15551100500'] as const
  await gateway.link(sender)
  await gateway.deliver(sender, contact, 'before the poison')
  const bad = await gateway.send(sender, contact, poison)
  const behind = await gateway.send(sender, contact, 'behind the poison')
  let deaths = 0
  const failed = await until('the poison has failed', twoMinutes, async () => {
    deaths += await restartWhatDied()
    const message = await gateway.messageStatus(bad)
    return message.status === 'failed' && message
  })
  expect(failed.error_code).toBe('message_stops_workers')
  // The first did not say what it was handling.
  expect(deaths, lastLines()).toBe(5)
  await gateway.untilStatus(behind, 'delivered')
}, 200_000)

it('fails nothing that only waits for its answer while five owners are killed', async () => {
  const sender = '15551100005'
  await gateway.link(sender)
  await system.phones.fault({ kind: 'ack_drop' })
  await system.phones.fault({ kind: 'no_receipts' })
  const ids = await Promise.all(
    [0, 1, 2].map((index) => gateway.send(sender, `1555110030${index}`, 'unanswered')),
  )
  const { wa_message_id: waId } = await gateway.messageStatus(ids[0] ?? '')
  const seen = async () => (await system.phones.log()).filter((line) => line.wa_message_id === waId).length
  for (let kills = 0; kills < 5; kills++) {
    await until(`it was sent ${kills + 1} times`, minute, async () => (await seen()) > kills)
    await until('they only wait for their answers', minute, async () => (await countHeldSuspects(ids)) === 0)
    const owner = await system.ownerOf(sender)
    system.devnet.signal(owner, 'SIGKILL')
    await until(`${owner} is gone`, minute, () => !system.devnet.pid(owner))
    await system.devnet.start(owner)
  }
  await until('it was sent once more', minute, async () => (await seen()) > 5)
  for (const id of ids) expect(await gateway.messageStatus(id)).toMatchObject({ status: 'sending' })
  await system.phones.fault({ kind: 'drop' })
  await system.phones.clearFaults()
  await until('all arrive', minute, async () => {
    const found = await Promise.all(ids.map(gateway.messageStatus))
    return found.every(({ status }) => status === 'delivered')
  })
}, 180_000)

it('sends everything else while a file ends the process that inspects it', async () => {
  const [sender, bystander] = ['15551100006', '15551100007'] as const
  await Promise.all([sender, bystander].map(gateway.link))
  // The worker that was started last may still be taking its share, and the sender with it.
  await system.untilShared()
  const sendAudio = async (number: string, bytes: Buffer) => {
    const url = `data:audio/mpeg;base64,${bytes.toString('base64')}`
    const { status, body } = await gateway.call('send-media', { sender, number, type: 'audio', url })
    expect(status).toBe(200)
    return String(body.message_id)
  }
  // It needs more memory than the process has, however fast the machine is.
  const hostile = makeHostileFile('ID3 tag full of tiny frames', 12).bytes
  const sound = mediaSamples.find(({ type }) => type === 'audio')?.bytes
  if (!sound) throw new Error('There is no such file')
  const first = await sendAudio('15551100400', sound)
  await gateway.untilStatus(first, 'delivered')
  const owner = await system.ownerOf(sender)
  const inspectors = childrenOf(system.devnet.pid(owner))
  expect(inspectors.map((pid) => getPriority(Number(pid)))).toEqual([10])
  const pids = workers.map(system.devnet.pid)

  const bad = await sendAudio('15551100401', hostile)
  const beside = await Promise.all([
    sendAudio('15551100401', sound),
    gateway.send(sender, '15551100401', 'behind the files'),
    gateway.send(sender, '15551100402', 'beside the files'),
    gateway.send(bystander, '15551100403', 'of another sender'),
  ])
  await until('all others arrive', twoMinutes, async () => {
    const found = await Promise.all(beside.map(gateway.messageStatus))
    return found.every(({ status }) => status === 'delivered')
  })
  expect(await gateway.messageStatus(bad)).toMatchObject({ status: 'failed', error_code: 'invalid_media' })
  expect(childrenOf(system.devnet.pid(owner))).not.toContain(inspectors[0])
  expect(workers.map(system.devnet.pid)).toEqual(pids)
}, 180_000)

function childrenOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
}

/** Messages that were held at a death and are handled now. */
async function countHeldSuspects(ids: string[]): Promise<number> {
  const held = await system.database.$client`
    SELECT FROM messages WHERE id = ANY(${ids}::uuid[]) AND interruptions > 0 AND held_epoch IS NOT NULL`
  return held.length
}
