import type { RequestListener } from 'node:http'
import { makeHostNames } from '@wagate/runtime/host-names'
import { isForbiddenAddress } from '@wagate/shared/public-hosts'
import { expect } from 'vitest'
import { type FetchLimits, fetchMedia } from '../src/media/fetch-media.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

/** Servers of this machine, on one port, that a fetch must never contact. */
export type InternalHosts = {
  port: number
  /** The code that a fetch ends with. Fails if the fetch contacted one of the servers. */
  codeOf(url: string, more?: Partial<FetchLimits>): Promise<string>
  close(): void
}

const anything: RequestListener = (_, response) => response.end('secret')
const everyPath = new Proxy({}, { get: () => anything })

const limits: FetchLimits = {
  bytesMax: 100_000,
  deadlineMs: 5000,
  isForbidden: isForbiddenAddress,
  room: { tryGrow: () => true, wait: async () => undefined, release: () => undefined },
  lookup: makeHostNames().ofOwner('test'),
}

export async function openInternalHosts(): Promise<InternalHosts> {
  const first = await openMediaHost(everyPath)
  const { port } = first
  const servers: MediaHost[] = [first, await openMediaHost(everyPath, { address: '::1', port })]
  const hits = () => servers.map((server) => server.hits())
  return {
    port,
    async codeOf(url, more = {}) {
      const before = hits()
      const code = await fetchMedia(url, '/dev/null', { ...limits, ...more }).then(
        () => 'fetched',
        (error: { code?: string }) => error.code ?? String(error),
      )
      expect(hits()).toEqual(before)
      return code
    },
    close() {
      for (const server of servers) server.close()
    },
  }
}
