import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { repository, typescript } from '@wagate/devnet/app-process'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { until } from '@wagate/test-kit/until'
import { onTestFinished } from 'vitest'

type Language = {
  name: string
  extension: string
  isInstalled: boolean
  command(port: number): string[]
}

const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0

/** The program of examples/answer-messages in each language. */
export const languages: Language[] = [
  {
    name: 'TypeScript',
    extension: 'ts',
    isInstalled: true,
    command: () => [process.execPath, '--import', typescript],
  },
  { name: 'Python', extension: 'py', isInstalled: isInstalled('python3'), command: () => ['python3'] },
  {
    name: 'PHP',
    extension: 'php',
    isInstalled: isInstalled('php'),
    command: (port) => ['php', '-S', `127.0.0.1:${port}`],
  },
]

export type AnsweringProgram = {
  /** What it answers to a request with these headers and this body. */
  deliver(headers: Record<string, string>, body: string): Promise<number>
  /** Kills it, and starts it again. */
  restart(): Promise<void>
}

/** Runs a program until the test ends. */
export async function startAnsweringProgram(
  { extension, command }: Language,
  settings: { port: number; apiUrl: string; apiKey: string; secret: string },
): Promise<AnsweringProgram> {
  const url = `http://127.0.0.1:${settings.port}/`
  const [program = '', ...options] = command(settings.port)
  const file = join(repository, `examples/answer-messages/answer-messages.${extension}`)
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn(program, [...options, file], {
      stdio: 'ignore',
      env: {
        ...process.env,
        PORT: String(settings.port),
        WAGATE_URL: settings.apiUrl,
        WAGATE_KEY: settings.apiKey,
        WEBHOOK_SECRET: settings.secret,
        TMPDIR: temporaryFolder(),
      },
    })
    await until(`${file} listens`, () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
  }

  async function stop(): Promise<void> {
    const ended = child && once(child, 'exit')
    child?.kill('SIGKILL')
    await ended
  }

  await start()
  onTestFinished(stop)
  return {
    deliver: async (headers, body) => (await fetch(url, { method: 'POST', headers, body })).status,
    async restart() {
      await stop()
      await start()
    },
  }
}
