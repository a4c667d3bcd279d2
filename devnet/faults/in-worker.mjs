import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into the workers of the fault tests. What is sent to the public address of the media host stays on this
// machine, and SIGUSR2 leaves in memory only what is held.
const { PUBLIC_MEDIA_ADDRESS } = process.env
const { connect } = Socket.prototype

Socket.prototype.connect = function (...given) {
  const [first] = given
  const options = Array.isArray(first) ? first[0] : first
  if (options?.host === PUBLIC_MEDIA_ADDRESS) options.host = '127.0.0.1'
  return Reflect.apply(connect, this, given)
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
process.on('SIGUSR2', () => collectGarbage())
