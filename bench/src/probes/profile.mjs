// Loaded into a worker: the first SIGUSR2 starts a CPU profile, the next one writes it to WAGATE_BENCH_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

const file = process.env.WAGATE_BENCH_FILE ?? ''
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.setSamplingInterval', { interval: 500 })
let isRunning = false

process.on('SIGUSR2', () => {
  if (!isRunning) session.post('Profiler.start')
  else
    session.post('Profiler.stop', (_error, { profile }) => {
      writeFileSync(`${file}.part`, JSON.stringify(profile))
      renameSync(`${file}.part`, file)
    })
  isRunning = !isRunning
})
