// Prints the CPU time of one await, in microseconds, with this many AsyncLocalStorage instances in use.
import { AsyncLocalStorage } from 'node:async_hooks'

const count = Number(process.argv[2])
const measureMs = Number(process.argv[3])
const awaitsAtOnce = 1000
const instances = Array.from({ length: count }, () => new AsyncLocalStorage())
// An instance costs something from its first use on, as a socket's does from its first transaction.
for (const instance of instances) await instance.run({}, async () => undefined)

async function nothing() {}

async function awaitMany() {
  for (let index = 0; index < awaitsAtOnce; index++) await nothing()
}

for (let round = 0; round < 5; round++) await awaitMany()
const costs = []
const end = performance.now() + measureMs
while (performance.now() < end || costs.length < 3) {
  const before = process.cpuUsage()
  await awaitMany()
  const { user, system } = process.cpuUsage(before)
  costs.push((user + system) / awaitsAtOnce)
}
costs.sort((a, b) => a - b)
process.stdout.write(JSON.stringify({ us: costs[Math.floor(costs.length / 2)] }))
