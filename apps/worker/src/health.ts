import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Running } from '@wagate/shared/running'
import type { Config } from './config.ts'
import type { OwnershipState } from './ownership/ownership.ts'

export type Health = Running & { port: number }

/** `/health/live`: the process runs. `/health/ready`: it may send for the shards it owns. */
export async function startHealth(
  { HOST, METRICS_PORT }: Pick<Config, 'HOST' | 'METRICS_PORT'>,
  read: () => OwnershipState,
): Promise<Health> {
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
      response.end(JSON.stringify(body))
    }
    if (request.url === '/health/live') return answer(200, { ok: true })
    if (request.url !== '/health/ready') return answer(404, { ok: false })
    const state = read()
    answer(state.leaseValid ? 200 : 503, {
      ok: state.leaseValid,
      worker_id: state.workerId,
      lease_valid: state.leaseValid,
      owned_shards: state.ownedShards,
      linked_devices: state.linkedDevices,
      no_capacity_shards: state.unplacedShards,
    })
  })
  server.listen(METRICS_PORT, HOST)
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
