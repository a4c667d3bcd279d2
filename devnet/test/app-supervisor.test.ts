import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { expect, test, vi } from 'vitest'
import { superviseApps } from '../src/app-supervisor.ts'

test('reports a crash with its last lines and starts the program again', async () => {
  const { apps, reports, options } = supervise(true, 'console.log("out of paper"); process.exitCode = 3')
  apps.start(options)
  await vi.waitFor(() => expect(reports).toContain('Starting printer again'), { timeout: 15_000 })
  expect(reports[0]).toContain('printer ended unexpectedly (exit code 3). Its last lines:\nout of paper')
  await apps.stopAll()
})

test('shows what a program logs as an error, once', async () => {
  const lines = '{"level":30,"msg":"fine"}\n{"level":50,"msg":"Jam","err":{"message":"paper"}}\n'.repeat(2)
  const { apps, reports, options } = supervise(
    false,
    `process.stdout.write(${JSON.stringify(lines)}); ${waiting}`,
  )
  apps.start(options)
  await vi.waitFor(() => expect(reports).toEqual(['printer: Jam: paper']), { timeout: 15_000 })
  await apps.stop('printer')
  await apps.stop('printer')
  expect(reports).toHaveLength(1)
})

test('says nothing about a program that is stopped or killed on purpose', async () => {
  const { apps, reports, options, mark } = supervise(true, waiting)
  const app = apps.start(options)
  await vi.waitFor(() => expect(existsSync(mark)).toBe(true), { timeout: 15_000 })
  apps.signal('printer', 'SIGKILL')
  expect(await app.ended).toEqual({ code: null, signal: 'SIGKILL' })
  expect(reports).toEqual([])
  expect(apps.names()).toEqual([])
})

test('a program that was killed can be started once it has ended', async () => {
  const { apps, options, mark } = supervise(false, waiting)
  apps.start(options)
  await vi.waitFor(() => expect(existsSync(mark)).toBe(true), { timeout: 15_000 })
  await apps.untilEnded('printer')
  expect(apps.names()).toEqual(['printer'])
  apps.signal('printer', 'SIGKILL')
  expect(() => apps.start(options)).toThrow('printer already runs')
  await apps.untilEnded('printer')
  apps.start(options)
  expect(apps.names()).toEqual(['printer'])
  await apps.stopAll()
})

const waiting = 'setInterval(() => undefined, 60_000)'

function supervise(restart: boolean, program: string) {
  const folder = temporaryFolder()
  const reports: string[] = []
  const mark = join(folder, 'started')
  const entry = join(folder, 'printer.mjs')
  writeFileSync(
    entry,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(mark)}, '')\n${program}`,
  )
  const apps = superviseApps(restart, {
    onStarted: () => undefined,
    onEnded: () => undefined,
    report: (text) => reports.push(text),
  })
  return { apps, reports, mark, options: { name: 'printer', entry, env: process.env, logFolder: folder } }
}
