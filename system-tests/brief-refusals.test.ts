import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Phones } from '@wagate/test-kit/load/phones'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, beforeAll, describe, it } from 'vitest'

let system: TestSystem
let gateway: GatewayClient
let phones: Phones

beforeAll(async () => {
  system = await openTestSystem({ workers: 1 })
  gateway = system.gateway
  phones = system.phones
}, 60_000)

afterAll(() => system?.close(), 30_000)

/** What WhatsApp answered to its logins, in order. */
async function loginsOf(sender: string): Promise<string[]> {
  const all = await phones.logins()
  return all.filter((login) => login.sender === sender).map(({ result }) => result)
}

/** Links it, and resolves to a function that returns what WhatsApp answered to its logins since then. */
async function link(sender: string): Promise<() => Promise<string[]>> {
  await gateway.link(sender)
  const before = (await loginsOf(sender)).length
  return async () => (await loginsOf(sender)).slice(before)
}

const codes = ['400', '413', '414', '415', '418', '429', '500', '501', '503']

describe.concurrent('a login that WhatsApp refuses for now', () => {
  it.for(codes)('is tried again, and the reason is known meanwhile (%s)', async (code, { expect }) => {
    const sender = `155507410${code}`
    const logins = await link(sender)
    await phones.fault({ kind: 'login_failure', sender, code, count: 2 })
    await until('the reason is stored', async () => {
      const rows = await system.database.$client`
        SELECT FROM devices WHERE sender = ${sender}
          AND status_reason = 'whatsapp_unavailable' AND status_detail = ${code}`
      return rows.length > 0
    })
    await until('it is logged in', async () => (await logins()).includes('ok'))
    expect(await logins()).toEqual([code, code, 'ok'])
  })

  it('is tried again when the time of a ban is over', async ({ expect }) => {
    const sender = '15550741102'
    const logins = await link(sender)
    await phones.fault({ kind: 'login_failure', sender, code: '402', expire: 6 })
    await until('it is banned', async () => {
      const { status, status_reason } = await gateway.statusOf(sender)
      return status === 'disconnected' && status_reason === 'temporarily_banned'
    })
    await until('it is connected', async () => (await gateway.statusOf(sender)).status === 'connected')
    expect(await logins()).toEqual(['402', 'ok'])
  })
})
