import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { openSystemBehindProxy } from './behind-proxy.ts'

const sender = '15550730001'
/** A parameter of a statement, as the protocol of Postgres writes it. */
const banned = Buffer.from('temporarily_banned')

it('a ban that Postgres does not store at first is stored later, and no login comes before', async () => {
  let isHolding = true
  let isHeld = false
  let letPass: () => void = () => undefined
  const passing = new Promise<void>((resolve) => {
    letPass = resolve
  })
  const { devnet, database, gateway, phones, postgres, close } = await openSystemBehindProxy((chunk) => {
    if (!isHolding || !chunk.includes(banned)) return undefined
    isHeld = true
    return passing
  })
  try {
    const logins = async () => (await phones.logins()).filter((login) => login.sender === sender)
    await gateway.link(sender)
    const before = (await logins()).length
    await phones.fault({ kind: 'login_failure', sender, code: '402', expire: 86_400, ban_code: '104' })
    await until('the ban is being stored', async () => isHeld)
    const sent = await gateway.call('send-message', { sender, number: '15550730002', message: 'x' })
    expect(sent).toMatchObject({ status: 200 })
    // The statement is lost together with its connection.
    isHolding = false
    postgres?.cut()
    letPass()
    postgres?.heal()
    const stored = await until('the ban is stored', async () => {
      const [row] = await database.$client<{ hours: number; detail: string }[]>`
        SELECT extract(epoch FROM login_after - now()) / 3600 AS hours, status_detail AS detail
        FROM devices WHERE sender = ${sender} AND status_reason = 'temporarily_banned'`
      return row
    })
    expect(Number(stored.hours)).toBeGreaterThan(23)
    expect(stored.detail).toBe('same_message')
    await devnet.stop('worker-1')
    await devnet.start('worker-1')
    await until('its next owner has it', async () => {
      const rows = await database.$client`
        SELECT FROM devices JOIN shard_leases USING (shard) WHERE sender = ${sender} AND owner IS NOT NULL`
      return rows.length > 0
    })
    // A login of another sender would come after that of this one.
    await gateway.link('15550730003')
    expect((await logins()).slice(before).map(({ result }) => result)).toEqual(['402'])
  } finally {
    letPass()
    await close()
  }
}, 120_000)
