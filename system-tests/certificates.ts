import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Certificate = { key: string; cert: string }

/** Of `localhost`, unless the name says otherwise. */
export type Certificates = {
  /** Of the authority that has signed `good` and `ofOtherName`. */
  authorityFile: string
  good: Certificate
  selfSigned: Certificate
  ofOtherName: Certificate
  remove(): void
}

/** Undefined where there is no OpenSSL 3. */
export function makeCertificates(): Certificates | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'wagate-certificates-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const fileOf = (name: string) => join(folder, name)
  const read = (name: string) => readFileSync(fileOf(name), 'utf8')

  function make(name: string, subject: string, ...options: string[]): Certificate {
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${subject}`]
    const files = ['-keyout', fileOf(`${name}.key`), '-out', fileOf(`${name}.pem`)]
    execFileSync('openssl', [...request, ...files, ...options], { stdio: 'ignore' })
    return { key: read(`${name}.key`), cert: read(`${name}.pem`) }
  }

  const altName = (name: string) => ['-addext', `subjectAltName=DNS:${name}`]
  const signed = ['-CA', fileOf('authority.pem'), '-CAkey', fileOf('authority.key')]
  const isLeaf = ['-addext', 'basicConstraints=critical,CA:FALSE']
  try {
    make('authority', 'test authority')
    return {
      authorityFile: fileOf('authority.pem'),
      good: make('good', 'localhost', ...altName('localhost'), ...isLeaf, ...signed),
      selfSigned: make('self-signed', 'localhost', ...altName('localhost')),
      ofOtherName: make('of-other-name', 'other', ...altName('other.example.com'), ...isLeaf, ...signed),
      remove,
    }
  } catch {
    remove()
    return undefined
  }
}
