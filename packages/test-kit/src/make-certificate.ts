import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export type Certificate = { keyFile: string; certificateFile: string }

const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
const subject = ['-subj', '/CN=wagate test', '-addext', 'subjectAltName=DNS:localhost']

/** Signed by its own key, for `localhost` only. Writes `<name>.key` and `<name>.crt`, as PEM. */
export function makeCertificate(name: string, folder: string): Certificate {
  const [keyFile, certificateFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  execFileSync('openssl', [...kind, '-keyout', keyFile, '-out', certificateFile, ...subject], {
    stdio: 'ignore',
  })
  return { keyFile, certificateFile }
}
