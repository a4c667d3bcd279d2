import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { typescript } from '@wagate/devnet/app-process'
import type { System } from '@wagate/test-kit/system'
import { ownCpuMs, readCpuMs } from '../process-usage.ts'
import type { Profiler } from '../profiler.ts'
import type { Round } from '../throughput/round.ts'
import type { BareBaileys, BareFailure, BarePace, BareReply, BareRequest } from './bare-messages.ts'

/** Only Baileys, in a separate process, to show what the gateway adds. */
export type BareLoop = {
  send(messages: number, pace: BarePace): Promise<Round>
  close(): Promise<void>
}

const program = fileURLToPath(new URL('./bare-process.ts', import.meta.url))
/** What is loaded first. */
const imports: { [baileys in BareBaileys]: string } = {
  'as released': new URL('./as-released.ts', import.meta.url).href,
  'as in a worker': import.meta.resolve('@wagate/worker/preload'),
}
const limitMs = 180_000

export async function startBareLoop(
  { devnet }: System,
  senders: string[],
  baileys: BareBaileys,
  profiler?: Profiler,
): Promise<BareLoop> {
  const { simulator } = devnet
  if (!simulator) throw new Error('The bare loop needs the simulated network')
  const child = fork(program, {
    execArgv: ['--import', typescript, '--import', imports[baileys], '--conditions=source'],
    env: { ...process.env, ...profiler?.environment },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const pid = child.pid ?? 0
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))

  function ask(request: BareRequest): Promise<BareReply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
      const onEnd = () => reject(new Error('The bare loop ended'))
      child.once('exit', onEnd)
      child.once('message', (reply: BareReply | BareFailure) => {
        clearTimeout(timer)
        child.off('exit', onEnd)
        if ('error' in reply) reject(new Error(reply.error))
        else resolve(reply)
      })
      child.send(request)
    })
  }

  const cpuNow = () => ({
    sender: readCpuMs(pid),
    api: 0,
    postgres: 0,
    redis: 0,
    simulator: readCpuMs(devnet.pid('simulator') ?? 0),
    client: ownCpuMs(),
  })

  await ask({ kind: 'link', baileys, senders, ...simulator })
  return {
    async send(messages, pace) {
      const way = `Baileys ${baileys}, ${pace.waitForAcks ? 'waiting for acks' : 'not waiting'}`
      await profiler?.start(pid)
      const before = cpuNow()
      const { ms } = await ask({ kind: 'send', messages, ...pace })
      const after = cpuNow()
      await profiler?.stop(pid, way)
      const cpuMs = {
        ...after,
        sender: after.sender - before.sender,
        simulator: after.simulator - before.simulator,
        client: 0,
      }
      return { way, messages, ms, cpuMs }
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await ended
    },
  }
}
