import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from '@wagate/test-kit/make-certificate'
import { connectTo } from '@wagate/test-kit/servers/test-run'

export type PostgresTls = {
  /** With which clients verify the server. */
  url: string
  /** Of the same authority. Postgres shows it once its settings are loaded again. */
  setCertificate(options: { isExpired: boolean }): void
  remove(): void
}

/** Lets a running Postgres encrypt, with a certificate of an authority of its own. */
export async function startTls(databaseUrl: string): Promise<PostgresTls> {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-authority-'))
  const authority = makeCertificate('authority', folder)
  const sql = connectTo(databaseUrl)
  const [settings] = await sql<{ data: string }[]>`SELECT current_setting('data_directory') AS data`
  const data = settings?.data ?? ''

  function setCertificate({ isExpired }: { isExpired: boolean }): void {
    const { keyFile, certificateFile } = makeCertificate('server', data, { authority, isExpired })
    // Postgres must own its key.
    for (const file of [keyFile, certificateFile]) chownSync(file, statSync(data).uid, statSync(data).gid)
  }

  setCertificate({ isExpired: false })
  await sql`ALTER SYSTEM SET ssl = on`
  await sql`SELECT pg_reload_conf()`
  await sql.end()
  const url = new URL(databaseUrl)
  url.hostname = 'localhost'
  url.searchParams.set('sslmode', 'verify-full')
  url.searchParams.set('sslrootcert', authority.certificateFile)
  return { url: url.href, setCertificate, remove: () => rmSync(folder, { recursive: true }) }
}
