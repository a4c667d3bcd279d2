import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@wagate/local-servers/free-port'

/** A proxy of another project, in a process of its own. It wants a user name and a password. */
export type TestProxy = {
  /** With the right user name and password. */
  url: string
  port: number
  /** `host:port` of every connection so far, over all restarts. */
  targets: string[]
  /** With SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  restart(): Promise<void>
}

export type ProxyKind = 'http' | 'socks5'

const program = fileURLToPath(new URL('./proxy-main.mjs', import.meta.url))

export async function startTestProxy(kind: ProxyKind): Promise<TestProxy> {
  const targets: string[] = []
  const port = await freePort()
  let child: ChildProcess

  async function start(): Promise<void> {
    child = spawn(process.execPath, [program, kind, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] })
    if (!child.stdout) throw new Error('The proxy has no output')
    const lines = createInterface(child.stdout)
    await once(lines, 'line')
    lines.on('line', (line) => targets.push(line))
  }

  await start()
  return {
    url: `${kind}://shop:s%3Acret@127.0.0.1:${port}`,
    port,
    targets,
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await ended
    },
    restart: start,
  }
}
