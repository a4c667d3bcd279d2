import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'

let system: TestSystem
let bundledRevision: number
const ahead = (revisions: number) => `2.3000.${bundledRevision + revisions}`

beforeAll(async () => {
  system = await openTestSystem({ environment: { WHATSAPP_VERSION: 'auto' } })
  bundledRevision = Number(((await setVersion({})) as Record<string, unknown>).revision)
}, 60_000)
afterAll(() => system?.close(), 30_000)

let numbers = 0
const newSender = () => `15552064${String(100 + ++numbers)}`

async function link(sender: string): Promise<string> {
  const { body } = await system.gateway.call('generate-qr', { sender })
  await system.phones.scan(String(body.qr_text), sender)
  await untilStatus(sender, 'connected')
  return sender
}
const untilStatus = (sender: string, status: string) =>
  until(`${sender} is ${status}`, async () => (await system.gateway.statusOf(sender)).status === status)

const setVersion = (fields: Record<string, unknown>) => system.gateway.control('/web-version', fields)

/** The versions of the logins of a sender, in order, each with what WhatsApp answered. */
async function loginsOf(sender: string): Promise<string[]> {
  const logins = await system.phones.logins()
  return logins
    .filter((login) => login.sender === sender)
    .map(({ version, result }) => `${version} ${result}`)
}

/** As if the version had been read some hours ago. */
const letHoursPass = () => system.database.$client`
  UPDATE client_versions SET read_at = read_at - interval '5 hours'`

test('a version that WhatsApp refuses is read again at once, without a login of those that are connected', async () => {
  const first = await link(newSender())
  const second = await linkForOtherOwner(first)
  await letHoursPass()
  await setVersion({ revision: bundledRevision + 10, oldest_allowed: bundledRevision + 5 })

  await system.gateway.call('restart-session', { sender: first })
  await until('the first is back', async () => (await loginsOf(first)).includes(`${ahead(10)} ok`))
  expect(await loginsOf(first)).toEqual([`${ahead(0)} ok`, `${ahead(0)} 405`, `${ahead(10)} ok`])
  await untilStatus(first, 'connected')
  expect(await loginsOf(second)).toEqual([`${ahead(0)} ok`])

  await system.gateway.call('restart-session', { sender: second })
  await until('the second is back', async () => (await loginsOf(second)).includes(`${ahead(10)} ok`))
  expect((await loginsOf(second)).filter((login) => login.endsWith('405')).length).toBeLessThan(2)
}, 30_000)

async function linkForOtherOwner(first: string): Promise<string> {
  const owner = await system.ownerOf(first)
  for (;;) {
    const other = await link(newSender())
    if ((await system.ownerOf(other)) !== owner) return other
  }
}

test('a phone that refuses an old version links with the one that the workers read next', async () => {
  await setVersion({
    revision: bundledRevision + 20,
    oldest_allowed: bundledRevision + 15,
    refused_by: 'phone',
  })
  await expect(link(newSender())).rejects.toThrow("Couldn't link device")
  await system.database.$client`UPDATE installation SET client_version_due_at = now()`
  await until('every worker knows the version', () => countWorkersThatRead(ahead(20)) === 2)
  expect(await loginsOf(await link(newSender()))).toEqual([`${ahead(20)} ok`])
  const metrics = await system.metricsOf('worker-1')
  expect(metrics).toMatch(/^wagate_whatsapp_version_age_days 0(\.0\d*)?$/m)
}, 60_000)

function countWorkersThatRead(version: string): number {
  const logs = [...system.logs().values()]
  return logs.filter((log) => log.includes(`"clientVersion":"${version}"`)).length
}
