import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeHostNames } from '@wagate/runtime/host-names'
import { fileCases } from '@wagate/test-kit/media/file-cases'
import { files } from '@wagate/test-kit/media/make-files'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { inspectFile } from '../src/media/inspection/inspect-file.ts'
import type { Inspector } from '../src/media/inspection/inspector.ts'
import { loadMedia } from '../src/media/load-media.ts'
import { makeMediaShares } from '../src/media/media-shares.ts'
import { type MediaHost, openMediaHost } from './media-host.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
/** Without a process of its own: these files are harmless. */
const inspector: Inspector = {
  inspect: async (_, request) => (await inspectFile(request)) ?? {},
  close: async () => undefined,
}
const bytesMax = { image: 1e6, video: 1e6, audio: 1e6, document: 1e6 }
let host: MediaHost
let answer: RequestListener

beforeAll(async () => {
  vi.stubEnv('TMPDIR', folder)
  host = await openMediaHost(
    new Proxy(
      {},
      {
        get:
          () =>
          (...given: Parameters<RequestListener>) =>
            answer(...given),
      },
    ),
  )
})
afterAll(async () => {
  host.close()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

test.each(fileCases)('%s of which is said %o is sent as %s, %s', async (file, said, mimetype, fileName) => {
  const { path = '/', type, disposition, filename = null } = said
  answer = (request, response) => {
    if (request.url?.startsWith('/moved-to')) answer = answerWithFile
    if (path.startsWith('/moved-to') && request.url === '/') response.writeHead(302, { location: path }).end()
    else answerWithFile(request, response)
  }
  const answerWithFile: RequestListener = (_, response) =>
    response
      .writeHead(200, {
        ...(type && { 'content-type': type }),
        ...(disposition && { 'content-disposition': disposition }),
      })
      .end(files[file])
  const { content, release } = await loadMedia(
    {
      config: { media: { bytesMax, allowsPrivateHosts: true, memoryBytes: 1e7 } },
      db: undefined as never,
      media: {
        shares: makeMediaShares(1e7),
        hostNames: makeHostNames(),
        store: { read: async () => undefined },
        inspector,
      },
      device: { id: 1, accountId: 1 },
    },
    {
      id: randomUUID(),
      type: 'document',
      url: host.origin + (path.startsWith('/moved-to') ? '/' : path),
      body: null,
      filename,
    },
  )
  await release()
  expect(content).toMatchObject({ mimetype, fileName })
})
