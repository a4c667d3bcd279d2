import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export type Certificate = { keyFile: string; certificateFile: string }

type Options = {
  /** That signs it. By default, its own key does. */
  authority?: Certificate
  isExpired?: boolean
}

const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
const subject = ['-addext', 'subjectAltName=DNS:localhost']

/** For `localhost` only, for a day. Writes `<name>.key` and `<name>.crt`, as PEM. */
export function makeCertificate(
  name: string,
  folder: string,
  { authority, isExpired = false }: Options = {},
): Certificate {
  const [keyFile, certificateFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)]
  const named = [...subject, '-subj', `/CN=wagate test ${authority ? name : 'authority'}`]
  if (!authority) {
    openssl(['req', '-x509', '-days', '1', ...key, ...named, '-keyout', keyFile, '-out', certificateFile])
    return { keyFile, certificateFile }
  }
  const request = openssl(['req', '-new', ...key, ...named, '-keyout', keyFile])
  const signing = ['-CA', authority.certificateFile, '-CAkey', authority.keyFile, '-copy_extensions', 'copy']
  const days = isExpired ? '-1' : '1'
  openssl(['x509', '-req', ...signing, '-days', days, '-out', certificateFile], request)
  return { keyFile, certificateFile }
}

function openssl(args: string[], input = ''): string {
  return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] })
}
