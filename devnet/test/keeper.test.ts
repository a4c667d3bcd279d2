import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { repository } from '../src/app-process.ts'
import { vendorFolder } from '../src/devnet-servers.ts'
import { startKeeper } from '../src/servers/keeper.ts'
import { isRunning } from '../src/servers/leftover.ts'
import { temporaryFolder } from './temporary-folder.ts'

const owner = fileURLToPath(new URL('./keeper-owner.ts', import.meta.url))

test('stops the servers and removes their data when its owner is killed', async () => {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder, { mode: 0o711 })
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=source', owner, folder], {
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
  const { keeper, ended } = await startHere()
  const url = keeper.redis?.url
  process.kill(keeper.redis?.pid ?? 0, 'SIGKILL')
  await vi.waitFor(() => expect(ended).toEqual(['redis']))
  await keeper.start('redis')
  expect(keeper.redis?.url).toBe(url)
  await keeper.close()
  await keeper.close()
})

test('leaves no server behind when it is killed itself', async () => {
  const { keeper, ended } = await startHere()
  process.kill(keeper.pid, 'SIGKILL')
  await vi.waitFor(() => expect(ended).toEqual(['keeper']))
  await keeper.close()
  expect(isRunning(keeper.redis?.pid ?? 0)).toBe(false)
})

async function startHere() {
  const folder = temporaryFolder()
  const ended: string[] = []
  const options = { folder, logFolder: folder, vendorFolder, postgres: false, redis: true, durable: false }
  const keeper = await startKeeper(options, {
    onServerEnded: (server) => ended.push(server),
    onKeeperEnded: () => ended.push('keeper'),
  })
  return { keeper, ended }
}
