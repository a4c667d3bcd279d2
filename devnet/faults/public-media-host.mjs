import { Socket } from 'node:net'

/** Loaded into the workers: what is sent to the public address of the media host stays on this machine. */
const { PUBLIC_MEDIA_ADDRESS } = process.env
const { connect } = Socket.prototype

Socket.prototype.connect = function (...given) {
  const [first] = given
  const options = Array.isArray(first) ? first[0] : first
  if (options?.host === PUBLIC_MEDIA_ADDRESS) options.host = '127.0.0.1'
  return Reflect.apply(connect, this, given)
}
