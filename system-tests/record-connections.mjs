// Loaded into a worker: writes down what it looks up and connects to.
import dns from 'node:dns'
import { appendFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const { connect } = net.Socket.prototype
const { lookup } = dns

/** @param {string} line */
function note(line) {
  appendFileSync(process.env.CONNECTIONS_FILE ?? '/dev/null', `${line}\n`)
}

Object.defineProperty(net.Socket.prototype, 'connect', {
  /**
   * @this {net.Socket}
   * @param {unknown[]} given
   */
  value(...given) {
    const first = Array.isArray(given[0]) ? given[0][0] : given[0]
    const { path, host, port } = /** @type {{ path?: string, host?: string, port?: number }} */ (first)
    note(`connect ${path ?? `${host}:${port}`}`)
    return Reflect.apply(connect, this, given)
  },
})
Object.defineProperty(dns, 'lookup', {
  /** @param {[string, ...unknown[]]} given */
  value(...given) {
    note(`lookup ${given[0]}`)
    return Reflect.apply(lookup, dns, given)
  },
})
syncBuiltinESMExports()
