// Loaded into every process that devnet starts: loads the program while the servers that it needs are starting.
// Its environment follows over the channel to the launcher.
import { once } from 'node:events'

const program = process.env.DEVNET_LOAD_AHEAD
if (program && process.connected) {
  // The channel alone does not keep a process.
  const alive = setInterval(() => undefined, 1_000_000)
  const environment = once(process, 'message')
  await import(program)
  Object.assign(process.env, (await environment)[0])
  clearInterval(alive)
}
