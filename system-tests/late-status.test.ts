import { until } from '@wagate/test-kit/until'
import { expect, it } from 'vitest'
import { openSystemBehindProxy } from './behind-proxy.ts'

const sender = '15552006001'
/** A parameter of a statement, as the protocol of Postgres writes it: its length, then the text. */
const online = Buffer.from('\0\0\0\x06online')

it('a connection that WhatsApp ends while it is still being noted as online is not online afterwards', async () => {
  let isHolding = true
  let isHeld = false
  let letPass: () => void = () => undefined
  const passing = new Promise<void>((resolve) => {
    letPass = resolve
  })
  const { gateway, phones, database, logs, close } = await openSystemBehindProxy((chunk) => {
    if (!isHolding || !chunk.includes(online)) return undefined
    isHeld = true
    return passing
  })
  try {
    await database.$client.unsafe(`
      CREATE TABLE noted (place serial, connection text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO noted (connection) VALUES (NEW.connection); RETURN NULL; END $$;
      CREATE TRIGGER note AFTER UPDATE OF connection ON devices FOR EACH ROW EXECUTE FUNCTION note()`)
    const { body } = await gateway.call('generate-qr', { sender })
    await phones.scan(String(body.qr_text), sender)
    await until('it is being noted as online', async () => isHeld)
    isHolding = false
    await database.$client`TRUNCATE noted`

    await phones.fault({ kind: 'stream_error', code: '403', sender })
    await until('the worker knows of the end', () => logs().get('worker-1')?.includes('"code":403'))
    letPass()
    const noted = () =>
      database.$client<{ connection: string }[]>`SELECT connection FROM noted ORDER BY place`
    await until('both are noted', async () => (await noted()).length >= 2)
    expect(await noted()).toEqual([{ connection: 'online' }, { connection: 'offline' }])
    expect(await gateway.statusOf(sender)).toMatchObject({
      status: 'disconnected',
      status_reason: 'blocked_by_whatsapp',
    })
  } finally {
    letPass()
    await close()
  }
}, 60_000)
