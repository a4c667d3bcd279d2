import { startServerSupervisor } from '../src/server-supervisor.ts'
import { vendorFolder } from '../src/vendor-folder.ts'

// A program for supervisor.test.ts to kill: it owns a supervisor, says which servers run, and waits.
const folder = process.argv[2] ?? ''
const options = { folder, logFolder: folder, vendorFolder, postgres: true, redis: true, durable: false }
const supervisor = await startServerSupervisor(options)
console.log(JSON.stringify({ postgres: supervisor.postgres?.pid, redis: supervisor.redis?.pid }))
setInterval(() => undefined, 60_000)
