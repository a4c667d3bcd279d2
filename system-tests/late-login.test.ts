import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Phones } from '@wagate/test-kit/load/phones'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, it } from 'vitest'

const sender = '15550710001'

type Links = { postgres?: TcpProxy; whatsapp?: TcpProxy }

let system: TestSystem
let gateway: GatewayClient
let phones: Phones
const links = new Map<string, Links>()
/** Worker names, one for each connection that a worker asked WhatsApp for. */
const dials: string[] = []

beforeAll(async () => {
  system = await openTestSystem({
    async proxyFor(name, url) {
      const own = links.get(name) ?? {}
      links.set(name, own)
      if (url.startsWith('postgres') && name.startsWith('worker')) {
        own.postgres = await startTcpProxy(url)
        return own.postgres.url
      }
      if (!url.startsWith('ws')) return url
      own.whatsapp = await startTcpProxy(url, {
        onData: (chunk) => chunk.subarray(0, 4).toString() === 'GET ' && dials.push(name),
      })
      return own.whatsapp.url
    },
  })
  ;({ gateway, phones } = system)
  await gateway.link(sender)
}, 60_000)

afterAll(async () => {
  for (const { postgres } of links.values()) postgres?.heal()
  await system?.close()
  for (const { postgres, whatsapp } of links.values())
    await Promise.all([postgres?.close(), whatsapp?.close()])
}, 30_000)

it('a former owner that was stopped in the middle of a handshake does not log in after its lease has ended', async () => {
  const former = await system.ownerOf(sender)
  const { postgres, whatsapp } = links.get(former) ?? {}
  const before = { dials: dials.length, logins: await countLogins(), stats: await phones.stats() }

  // Its next handshake takes long enough to be stopped in.
  whatsapp?.cut()
  whatsapp?.heal()
  whatsapp?.worsen({ latencyMs: 2000, jitterMs: 0, resetShare: 0 })
  await until('it dials again', async () => dials.slice(before.dials).includes(former))
  system.devnet.signal(former, 'SIGSTOP')
  whatsapp?.heal()
  // It cannot learn from Postgres what happened meanwhile.
  postgres?.freeze()
  await until('the new owner has logged in', async () => (await countLogins()) === before.logins + 1)
  expect(await system.ownerOf(sender)).not.toBe(former)

  const endings = countEndings(former)
  system.devnet.signal(former, 'SIGCONT')
  await until('the former owner has ended its connection', async () => countEndings(former) > endings)
  expect(await countLogins()).toBe(before.logins + 1)
  expect((await phones.stats()).conflicts).toBe(before.stats.conflicts)
  postgres?.heal()
  await until('both own senders again', async () => (await countOwners()) === 2)
}, 60_000)

it('a phone that scans while its worker loses the lease is not linked, and can scan the code of the next owner', async () => {
  const scanning = '15550710002'
  const code = async () => String((await gateway.call('generate-qr', { sender: scanning })).body.qr_text)
  const shown = await code()
  const former = await system.ownerOf(scanning)
  const { postgres } = links.get(former) ?? {}
  postgres?.freeze()
  // It would end with the login of this link, which never comes.
  void phones.scan(shown, scanning).catch(() => undefined)
  await until('another worker owns it', async () => (await system.ownerOf(scanning)) !== former)
  postgres?.heal()
  const next = await until('the next owner shows a code', async () => {
    const given = await code()
    return given !== shown && given
  })
  expect(await gateway.statusOf(scanning)).not.toMatchObject({ status: 'connected' })
  await phones.scan(next, scanning)
  await until('it is connected', async () => (await gateway.statusOf(scanning)).status === 'connected')
  const given = { sender: scanning, number: sender, message: 'after all', wait: 20 }
  expect(['sent', 'delivered']).toContain((await gateway.call('send-message', given)).body.status)
}, 60_000)

async function countLogins(): Promise<number> {
  return (await phones.logins()).filter((login) => login.sender === sender).length
}

async function countOwners(): Promise<number> {
  const [row] = await system.database.$client<{ owners: number }[]>`
    SELECT count(DISTINCT owner)::int AS owners FROM shard_leases WHERE owner IS NOT NULL`
  return row?.owners ?? 0
}

function countEndings(worker: string): number {
  const log = system.logs().get(worker) ?? ''
  return log.split('"Connection to WhatsApp ended"').length
}
