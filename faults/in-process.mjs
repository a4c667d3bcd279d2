import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into the API and the workers of the fault tests. What is sent to the public address of the media host stays on
// this machine, SIGUSR2 makes the process say how much memory it holds without garbage, and SIGHUP lets the event loop stand
// still while the rest of the process lives on.
const { PUBLIC_MEDIA_ADDRESS, MEMORY_FILE = '', FAULTS_BLOCK_MS = '15000' } = process.env
const { connect } = Socket.prototype

Socket.prototype.connect = function (...given) {
  // Node wraps the options in a marked array.
  const args = Array.isArray(given[0]) ? given[0] : given
  // Not changed in place: an agent finds its sockets by their host, and would keep all of them.
  if (args[0]?.host === PUBLIC_MEDIA_ADDRESS) args[0] = { ...args[0], host: '127.0.0.1' }
  return Reflect.apply(connect, this, given)
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
process.on('SIGUSR2', () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(MEMORY_FILE, String(heapUsed + external))
})

const cell = new Int32Array(new SharedArrayBuffer(4))
process.on('SIGHUP', () => {
  Atomics.wait(cell, 0, 0, Number(FAULTS_BLOCK_MS))
})
