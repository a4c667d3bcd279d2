import { connect } from 'node:net'

/** Sends commands whose answers are one line each, and resolves to these lines. Rejects without an answer. */
export function askRedis(url: URL, commands: string[][]): Promise<string[]> {
  const login = url.password ? [['AUTH', decodeURIComponent(url.password)]] : []
  const all = [...login, ...commands]
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(url.port || 6379), url.hostname)
    const fail = (reason: string) => socket.destroy(new Error(`Redis at ${url.host} ${reason}`))
    socket.setEncoding('utf8').setTimeout(5000, () => fail('does not answer'))
    socket
      .on('error', reject)
      .on('close', () => reject(new Error(`Redis at ${url.host} closed the connection`)))
    socket.on('connect', () => socket.write(all.map(encode).join('')))
    socket.on('data', (text: string) => {
      answer += text
      const lines = answer.split('\r\n').slice(0, -1)
      if (lines.length < all.length) return
      resolve(lines.slice(login.length))
      socket.destroy()
    })
  })
}

function encode(command: string[]): string {
  return `*${command.length}\r\n${command.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`).join('')}`
}
