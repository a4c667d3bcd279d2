// Loaded into a worker: SIGUSR2 collects the garbage and writes what is left to WAGATE_BENCH_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const file = process.env.WAGATE_BENCH_FILE ?? ''

process.on('SIGUSR2', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  for (let pass = 0; pass < 3; pass++) collect()
  writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()))
  renameSync(`${file}.part`, file)
})
