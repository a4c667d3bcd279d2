import socks5 from '@pondwader/socks5-server'
import { Server } from 'proxy-chain'

// A proxy for tests: node proxy-main.mjs http|socks5 <port>. It wants the user "shop" with the password
// "s:cret". Prints a line when it is ready, then the target of each connection.
const [kind, port] = process.argv.slice(2)
const [user, secret] = ['shop', 's:cret']
/** @param {string} line */
const print = (line) => process.stdout.write(`${line}\n`)

if (kind === 'http') {
  const server = new Server({
    host: '127.0.0.1',
    port: Number(port),
    prepareRequestFunction({ username, password, hostname, port }) {
      const isKnown = username === user && password === secret
      if (isKnown) print(`${hostname}:${port}`)
      return { requestAuthentication: !isKnown }
    },
  })
  await server.listen()
  print('ready')
} else {
  const server = socks5.createServer({ auth: { username: user, password: secret } })
  server.setRulesetValidator(({ destAddress, destPort }, accept) => {
    print(`${destAddress}:${destPort}`)
    accept()
  })
  server.listen(Number(port), '127.0.0.1', () => print('ready'))
}
