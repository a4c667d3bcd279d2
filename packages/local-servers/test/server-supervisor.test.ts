import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { sourceOptions } from '@wagate/test-kit/source-options'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { eventually } from '@wagate/test-kit/until'
import { expect, test, vi } from 'vitest'
import { isRunning } from '../src/leftover.ts'
import { startServerSupervisor } from '../src/server-supervisor.ts'
import { vendorFolder } from '../src/vendor-folder.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const owner = fileURLToPath(new URL('./supervisor-owner.ts', import.meta.url))

test('stops the servers and removes their data when its owner is killed', async () => {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder, { mode: 0o711 })
  const child = spawn(process.execPath, [...sourceOptions, owner, folder], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface(child.stdout), 'line')
  const pids: Record<string, number> = JSON.parse(line)
  expect(Object.values(pids).map(isRunning)).toEqual([true, true])
  child.kill('SIGKILL')
  await vi.waitFor(() => expect(Object.values(pids).map(isRunning)).toEqual([false, false]), {
    timeout: 10_000,
  })
  await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 10_000 })
})

test('starts a server that was killed again, at the same address', async () => {
  const { supervisor, ended } = await startHere()
  const url = supervisor.redis?.url
  process.kill(supervisor.redis?.pid ?? 0, 'SIGKILL')
  await vi.waitFor(() => expect(ended).toEqual(['redis']), eventually)
  await supervisor.start('redis')
  expect(supervisor.redis?.url).toBe(url)
  await supervisor.close()
  await supervisor.close()
})

test('leaves no server behind when it is killed itself', async () => {
  const { supervisor, ended } = await startHere()
  process.kill(supervisor.pid, 'SIGKILL')
  await vi.waitFor(() => expect(ended).toEqual(['supervisor']), eventually)
  await supervisor.close()
  expect(isRunning(supervisor.redis?.pid ?? 0)).toBe(false)
})

async function startHere() {
  const folder = temporaryFolder()
  const ended: string[] = []
  const options = { folder, logFolder: folder, vendorFolder, postgres: false, redis: true, durable: false }
  const supervisor = await startServerSupervisor(options, {
    onServerEnded: (server) => ended.push(server),
    onSupervisorEnded: () => ended.push('supervisor'),
  })
  return { supervisor, ended }
}
