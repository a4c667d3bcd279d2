/** A proxy of a sender. User name and password are empty for one without them. */
export type ProxyUrl = {
  protocol: 'http' | 'socks5'
  hostname: string
  port: number
  username: string
  password: string
}

/** SOCKS5 says their lengths in one byte (RFC 1929). */
const isForSocks = (credential: string) => Buffer.byteLength(credential) <= 255
const form = /^(http|socks5):\/\/[^/?#\s]+\/?$/

/** `http://[user:password@]host:port` or `socks5://…`. Undefined for anything else. */
export function parseProxyUrl(text: string): ProxyUrl | undefined {
  const protocol = form.exec(text)?.[1]
  if (protocol !== 'http' && protocol !== 'socks5') return undefined
  try {
    // As a URL of a known kind, so that all forms of an address become one. Only the port of FTP is left out.
    const url = new URL(text.replace(/^\w+/, 'ftp'))
    const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    const isComplete = url.hostname !== '' && url.port !== '' && url.port !== '0'
    const isSendable = protocol === 'http' || [username, password].every(isForSocks)
    return isComplete && isSendable
      ? { protocol, hostname: url.hostname, port: Number(url.port), username, password }
      : undefined
  } catch {
    return undefined
  }
}

/** Without user name and password, which are both secret with some providers. */
export function showProxy({ protocol, hostname, port }: ProxyUrl): string {
  return `${protocol}://${hostname}:${port}`
}

/** What `parseProxyUrl` reads. */
export function writeProxy({ protocol, hostname, port, username, password }: ProxyUrl): string {
  const credentials = [username, password].map(encodeURIComponent).join(':')
  return `${protocol}://${credentials === ':' ? '' : `${credentials}@`}${hostname}:${port}`
}

/** The authenticated context of a stored proxy. */
export function proxyContext(deviceId: number): string {
  return `proxy|${deviceId}`
}
