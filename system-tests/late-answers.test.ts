import type { GatewayClient } from '@wagate/test-kit/gateway-client'
import type { Phones } from '@wagate/test-kit/load/phones'
import { mediaSamples } from '@wagate/test-kit/media/media-samples'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'
import { until } from '@wagate/test-kit/until'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'

type Hold = NonNullable<NonNullable<Parameters<typeof startTcpProxy>[1]>['hold']>

const nothing: Hold = () => undefined

let system: TestSystem
let gateway: GatewayClient
let phones: Phones
/** Between the worker and Postgres, one for each start of the worker. */
const proxies: TcpProxy[] = []
/** Delays what passes. */
let hold = nothing
let letPass: () => void = () => undefined

beforeAll(async () => {
  system = await openTestSystem({
    workers: 1,
    async proxyFor(name, url) {
      if (!url.startsWith('postgres') || !name.startsWith('worker')) return url
      const proxy = await startTcpProxy(url, { hold: (...given) => hold(...given) })
      proxies.push(proxy)
      return proxy.url
    },
  })
  gateway = system.gateway
  phones = system.phones
}, 60_000)

afterEach(() => {
  hold = nothing
  letPass()
})

afterAll(async () => {
  await system?.close()
  for (const proxy of proxies) await proxy.close()
}, 30_000)

/** Holds statements with this parameter until `letPass`. Returns whether one is held. */
function holdStatements(parameter: Buffer): () => boolean {
  let isHeld = false
  const passing = new Promise<void>((resolve) => {
    letPass = resolve
  })
  hold = (chunk) => {
    if (!chunk.includes(parameter)) return undefined
    isHeld = true
    return passing
  }
  return () => isHeld
}

/** All connections of the worker to Postgres end, with what they hold. */
function cutConnections(): void {
  for (const proxy of proxies) proxy.cut()
  letPass()
  for (const proxy of proxies) proxy.heal()
}

it('a connection that WhatsApp ends while it is still being noted as online is not online afterwards', async () => {
  const sender = '15552006001'
  const { database } = system
  // As the protocol of Postgres writes it: its length, then the text.
  const isHeld = holdStatements(Buffer.from('\0\0\0\x06online'))
  await database.$client.unsafe(`
    CREATE TABLE noted (place serial, connection text);
    CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO noted (connection) VALUES (NEW.connection); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER UPDATE OF connection ON devices FOR EACH ROW EXECUTE FUNCTION note()`)
  const { body } = await gateway.call('generate-qr', { sender })
  await phones.scan(String(body.qr_text), sender)
  await until('it is being noted as online', isHeld)
  hold = nothing
  await database.$client`TRUNCATE noted`

  await phones.fault({ kind: 'stream_error', code: '403', sender })
  await until('the worker knows of the end', () => system.logs().get('worker-1')?.includes('"code":403'))
  letPass()
  const noted = () => database.$client<{ connection: string }[]>`SELECT connection FROM noted ORDER BY place`
  await until('both are noted', async () => (await noted()).length >= 2)
  expect(await noted()).toEqual([{ connection: 'online' }, { connection: 'offline' }])
  await database.$client`DROP TRIGGER note ON devices`
  expect(await gateway.statusOf(sender)).toMatchObject({
    status: 'disconnected',
    status_reason: 'blocked_by_whatsapp',
  })
}, 60_000)

it('a ban that Postgres does not store at first is stored later, and no login comes before', async () => {
  const sender = '15550730001'
  const logins = async () => (await phones.logins()).filter((login) => login.sender === sender)
  await gateway.link(sender)
  const before = (await logins()).length
  const isHeld = holdStatements(Buffer.from('temporarily_banned'))
  await phones.fault({ kind: 'login_failure', sender, code: '402', expire: 86_400, ban_code: '104' })
  await until('the ban is being stored', isHeld)
  const sent = await gateway.call('send-message', { sender, number: '15550730002', message: 'x' })
  expect(sent).toMatchObject({ status: 200 })
  // The statement is lost together with its connection.
  hold = nothing
  cutConnections()
  const stored = await until('the ban is stored', async () => {
    const [row] = await system.database.$client<{ hours: number; detail: string }[]>`
      SELECT extract(epoch FROM login_after - now()) / 3600 AS hours, status_detail AS detail
      FROM devices WHERE sender = ${sender} AND status_reason = 'temporarily_banned'`
    return row
  })
  expect(Number(stored.hours)).toBeGreaterThan(23)
  expect(stored.detail).toBe('same_message')
  await system.devnet.stop('worker-1')
  await system.devnet.start('worker-1')
  await system.ownerOf(sender)
  // A login of another sender would come after that of this one.
  await gateway.link('15550730003')
  expect((await logins()).slice(before).map(({ result }) => result)).toEqual(['402'])
}, 120_000)

it('a file of a data: URL is sent when the answer of Postgres to its upload is lost', async () => {
  const [sender, number] = ['15552008001', '15552008002']
  await gateway.link(sender)
  let storingOn = 0
  let isExecuted = false
  const never = new Promise<void>(() => undefined)
  // The text of a statement comes first, and with the next piece it is executed.
  hold = (chunk, { connection, isAnswer }) => {
    // It stores an upload and deletes what was uploaded.
    if (storingOn === 0 && chunk.includes('DELETE FROM media_blobs USING fence')) storingOn = connection
    else if (connection === storingOn && !isAnswer) isExecuted = true
    return connection === storingOn && isExecuted && isAnswer ? never : undefined
  }
  const file = mediaSamples.find(({ type }) => type === 'document')?.bytes ?? Buffer.alloc(0)
  const url = `data:application/pdf;base64,${file.toString('base64')}`
  const { body } = await gateway.call('send-media', { sender, number, type: 'document', url })
  const id = String(body.message_id)
  await until('the upload is stored', async () => {
    const [row] = await system.database.$client`
      SELECT FROM messages WHERE id = ${id} AND uploaded_content IS NOT NULL
        AND NOT EXISTS (SELECT FROM media_blobs WHERE message_id = ${id})`
    return row !== undefined
  })
  expect(isExecuted).toBe(true)
  cutConnections()
  const ended = await until('it has ended', async () => {
    const message = await gateway.messageStatus(id)
    return ['delivered', 'failed'].includes(message.status) && message
  })
  expect(ended).toMatchObject({ status: 'delivered', error_code: null })
  expect(await gateway.phone(number, sender)).toMatchObject([{ duplicates: 0 }])
}, 60_000)
