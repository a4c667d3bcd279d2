import { startTcpProxy, type TcpProxy } from '@wagate/test-kit/tcp-proxy'
import { openTestSystem, type TestSystem } from '@wagate/test-kit/test-system'

type Delay = NonNullable<NonNullable<Parameters<typeof startTcpProxy>[1]>['hold']>

/** A system whose only worker reaches Postgres through a proxy that may delay what passes. */
export async function openSystemBehindProxy(
  hold: Delay,
): Promise<TestSystem & { postgres: TcpProxy | undefined }> {
  let postgres: TcpProxy | undefined
  const system = await openTestSystem({
    workers: 1,
    async proxyFor(name, url) {
      if (!url.startsWith('postgres') || !name.startsWith('worker')) return url
      postgres = await startTcpProxy(url, { hold })
      return postgres.url
    },
  })
  return {
    ...system,
    postgres,
    async close() {
      await system.close()
      await postgres?.close()
    },
  }
}
