import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { shortLease } from '@wagate/test-kit/short-lease'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15552005001'
const minute = { withinMs: 60_000, everyMs: 50 }
const picture = mediaSamples.find(({ type }) => type === 'image')?.bytes ?? Buffer.alloc(0)
const firstBytes = 20

let system: TestSystem
let gateway: GatewayClient
let host: Server
/** Answers that stop after the first bytes. */
const stuck: ServerResponse[] = []
let isStuck = false
/** Where all workers have their private folders. */
const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))

beforeAll(async () => {
  host = createServer((_, response) => {
    response.writeHead(200, { 'content-length': picture.length })
    if (!isStuck) return response.end(picture)
    stuck.push(response)
    return response.write(picture.subarray(0, firstBytes))
  }).listen(0, '127.0.0.1')
  system = await openTestSystem({
    environment: (name) => ({
      ...shortLease,
      ...(name.startsWith('worker') && { TMPDIR: folder }),
    }),
  })
  gateway = system.gateway
  await gateway.link(sender)
}, 60_000)

afterAll(async () => {
  host?.closeAllConnections()
  host?.close()
  await system?.close()
  rmSync(folder, { recursive: true })
}, 30_000)

async function sendPicture(number: string): Promise<string> {
  const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/`
  const { status, body } = await gateway.call('send-media', { sender, number, type: 'image', url })
  expect(status).toBe(200)
  return String(body.message_id)
}

/** The files of all workers that ran or run here, with their sizes. A worker may delete some meanwhile. */
function listFiles(): { path: string; size: number }[] {
  const folders = readdirSync(folder).map((own) => join(folder, own))
  const paths = folders.filter(existsSync).flatMap((own) => readdirSync(own).map((name) => join(own, name)))
  return paths.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found ? [{ path, size: found.size }] : []
  })
}

async function kill(owner: string): Promise<void> {
  system.devnet.signal(owner, 'SIGKILL')
  await until(`${owner} is gone`, minute, () => !system.devnet.pid(owner))
}

/** Delivered by the next owner, once on the wire and on the phone, and nothing of it is left on the disk. */
async function expectSentOnce(id: string, number: string, killed: string): Promise<void> {
  const message = await until('it is delivered', minute, async () => {
    const found = await gateway.messageStatus(id)
    expect(found.error_code).toBeNull()
    return found.status === 'delivered' && found
  })
  const { wa_message_id } = message
  const sent = (await system.phones.log()).filter((line) => line.wa_message_id === wa_message_id)
  expect(sent).toHaveLength(1)
  const sha256 = createHash('sha256').update(picture).digest('hex')
  expect(await gateway.phone(number, sender)).toMatchObject([{ wa_message_id, sha256, duplicates: 0 }])
  await system.devnet.start(killed)
  await until('nothing is left on the disk', minute, () => listFiles().length === 0)
}

it('a message whose media were being downloaded is sent once by the next owner', async () => {
  const number = '15552005101'
  isStuck = true
  const id = await sendPicture(number)
  await until('a part has arrived', minute, () => listFiles().some(({ size }) => size === firstBytes))
  const owner = await system.ownerOf(sender)
  await kill(owner)
  expect(listFiles()).toHaveLength(1)
  isStuck = false
  await expectSentOnce(id, number, owner)
}, 120_000)

it('a message whose media were being inspected is sent once by the next owner', async () => {
  const number = '15552005102'
  await gateway.untilStatus(await sendPicture('15552005103'), 'delivered')
  const owner = await system.ownerOf(sender)
  const [inspector] = childrenOf(system.devnet.pid(owner))
  process.kill(inspector ?? 0, 'SIGSTOP')
  try {
    const id = await sendPicture(number)
    await until('all has arrived', minute, () => listFiles().some(({ size }) => size === picture.length))
    await kill(owner)
    expect(listFiles()).toHaveLength(1)
    await expectSentOnce(id, number, owner)
  } finally {
    process.kill(inspector ?? 0, 'SIGCONT')
  }
  await until('the process that inspected has ended', minute, () => !existsSync(`/proc/${inspector}`))
}, 120_000)

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}
