import { text } from '../parameters/parameter-types.ts'

const charsMax = 2048
const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Where a person can go on after linking. Over https, so that nobody on the way replaces it; over http on this machine only,
 * for development. A user name in front of the host would make it look like another host.
 */
function isReturnUrl(value: string): boolean {
  // URL parsers skip tabs and line feeds, and people see what they do not.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(value) || !URL.canParse(value)) return false
  const { protocol, hostname, username, password } = new URL(value)
  if (username || password) return false
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))
}

export const returnUrl = text(charsMax).refine(
  isReturnUrl,
  'must be an https URL without a user name, or an http URL of localhost',
)
