import { vendorFolder } from '../src/devnet-servers.ts'
import { startKeeper } from '../src/servers/keeper.ts'

// A program for keeper.test.ts to kill: it owns a keeper, says which servers run, and waits.
const folder = process.argv[2] ?? ''
const options = { folder, logFolder: folder, vendorFolder, postgres: true, redis: true, durable: false }
const keeper = await startKeeper(options)
console.log(JSON.stringify({ postgres: keeper.postgres?.pid, redis: keeper.redis?.pid }))
setInterval(() => undefined, 60_000)
