import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { TLSSocket } from 'node:tls'
import { type Postgres, startPostgres } from '@wagate/local-servers/postgres'
import { timeAwake } from '@wagate/test-kit/awake-time'
import { makeCertificate } from '@wagate/test-kit/make-certificate'
import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase } from '../src/client.ts'
import { databaseFailure } from '../src/failures.ts'
import { migrate } from '../src/migrate.ts'
import { readTlsSettings } from '../src/tls.ts'

let folder: string
let server: Postgres
let proxy: TcpProxy
let certificate: string
let otherAuthority: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wagate-tls-'))
  // Postgres may run as another user.
  execFileSync('chmod', ['711', folder])
  server = await startPostgres({
    folder: join(folder, 'postgres'),
    logFile: join(folder, 'log'),
    durable: false,
  })
  certificate = makeOwnCertificate('server', server.folder)
  otherAuthority = makeOwnCertificate('other', folder)
  const sql = postgres(server.url, { max: 1 })
  await sql.unsafe("ALTER SYSTEM SET ssl_cert_file = 'server.crt'")
  await sql.unsafe("ALTER SYSTEM SET ssl_key_file = 'server.key'")
  await sql.unsafe('ALTER SYSTEM SET ssl = on')
  await sql`SELECT pg_reload_conf()`
  await sql.end()
  proxy = await startTcpProxy(server.url)
}, 60_000)
afterAll(async () => {
  await proxy?.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Postgres must own its key. */
function makeOwnCertificate(name: string, directory: string): string {
  const { keyFile, certificateFile } = makeCertificate(name, directory)
  const { uid, gid } = statSync(directory)
  for (const path of [keyFile, certificateFile]) chownSync(path, uid, gid)
  return certificateFile
}

/** Postgres's view of the connection, or the error code. */
async function connect(
  parameters: Record<string, string>,
  { hostname = 'localhost' } = {},
): Promise<unknown> {
  const url = new URL(server.url)
  url.hostname = hostname
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const db = openDatabase(url.href, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 2000 })
  try {
    const [row] = await db.$client<{ ssl: boolean }[]>`
      SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
    return row?.ssl
  } catch (error) {
    return (error as { code?: string }).code
  } finally {
    await closeDatabase(db)
  }
}

test('verify-full accepts a server with the given name and authority', async () => {
  const verified = { sslmode: 'verify-full', sslrootcert: certificate }
  expect(await connect(verified)).toBe(true)
})

test('verify-full refuses a server of another name', async () => {
  const verified = { sslmode: 'verify-full', sslrootcert: certificate }
  // An address of this server that its certificate does not contain.
  const hostname = '127.0.0.1'
  expect(await connect(verified, { hostname })).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  expect(await connect({ ...verified, sslmode: 'verify-ca' }, { hostname })).toBe(true)
})

test('sends the server name in the handshake', async () => {
  const names: string[] = []
  const listener = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, {
        isServer: true,
        SNICallback(name, done) {
          names.push(name)
          done(new Error('enough'))
        },
      })
      secure.on('error', () => socket.destroy())
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const url = `postgres://u:p@localhost:${port}/wagate?sslmode=verify-full`
  const db = openDatabase(url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 2000 })
  await expect(db.$client`SELECT 1`).rejects.toThrow()
  expect(names[0]).toBe('localhost')
  await closeDatabase(db)
  listener.close()
})

test('verify-full and verify-ca refuse a server of another authority', async () => {
  for (const sslmode of ['verify-full', 'verify-ca']) {
    expect(await connect({ sslmode, sslrootcert: otherAuthority })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    // Without a file, Node's authorities apply.
    expect(await connect({ sslmode })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
  }
})

test('require encrypts, accepts every server and reports it as unauthenticated', async () => {
  expect(await connect({ sslmode: 'require' })).toBe(true)
  expect(await connect({})).toBe(false)
  const isUnauthenticated = (parameters: string) =>
    readTlsSettings(`postgres://u:p@db.example:5432/wagate${parameters}`).isUnauthenticated
  expect(isUnauthenticated('?sslmode=require')).toBe(true)
  expect(isUnauthenticated('?sslmode=verify-full')).toBe(false)
  expect(isUnauthenticated('')).toBe(false)
  expect(await connect({ sslmode: 'require', sslrootcert: otherAuthority })).toBe(
    'DEPTH_ZERO_SELF_SIGNED_CERT',
  )
})

test('a mode that falls back to plain text is refused', () => {
  for (const mode of ['prefer', 'allow', 'verify_full']) {
    expect(() => readTlsSettings(`postgres://db/wagate?sslmode=${mode}`)).toThrow('verify-full')
  }
})

test('an address with several hosts is refused', () => {
  expect(() => readTlsSettings('postgres://one,two:5432/wagate')).toThrow('DATABASE_URL must name one host.')
})

test('the migration uses the same TLS settings', async () => {
  const url = new URL(server.url)
  url.hostname = 'localhost'
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', otherAuthority)
  await expect(migrate(url.href, { shards: 4 })).rejects.toMatchObject({
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  url.searchParams.set('sslrootcert', certificate)
  await migrate(url.href, { shards: 4 })
})

test('a connection under TLS closes at once', async () => {
  const url = `${server.url.replace('127.0.0.1', 'localhost')}?sslmode=require`
  const db = openDatabase(url, { poolSize: 1, applicationName: 'test', statementTimeoutMs: 2000 })
  await db.$client`SELECT 1`
  const { awakeMs } = await timeAwake(() => closeDatabase(db))
  expect(awakeMs).toBeLessThan(1500)
})

test('a silent partition ends a query within 7 seconds under TLS, an idle connection is kept, and the pool heals', async () => {
  const url = new URL(proxy.url)
  url.hostname = 'localhost'
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', certificate)
  const options = { poolSize: 1, applicationName: 'test', statementTimeoutMs: 1000, silenceMs: 2000 }
  const db = openDatabase(url.href, options)
  try {
    const findPid = () => db.$client`SELECT pg_backend_pid() AS pid`
    const [used] = await findPid()
    // Longer than Postgres may take to answer.
    await delay(2300)
    expect(await findPid()).toEqual([used])
    proxy.freeze()
    const { result: failure, awakeMs } = await timeAwake(() =>
      db.$client`SELECT 1`.catch((error: unknown) => error),
    )
    expect(databaseFailure(failure)).toBe('unavailable')
    expect(awakeMs).toBeLessThan(7000)
    proxy.cut()
    proxy.heal()
    await db.$client`SELECT 1`.catch(() => undefined)
    expect(await db.$client`SELECT 2::int AS n`).toMatchObject([{ n: 2 }])
  } finally {
    await closeDatabase(db)
  }
}, 30_000)
