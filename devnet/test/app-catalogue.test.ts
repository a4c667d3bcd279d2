import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AppSettings, describeApi } from '../src/app-catalogue.ts'
import { repository } from '../src/app-process.ts'

test('the API runs under the options of Node that its image has', () => {
  const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  const [command = ''] = dockerfile.match(/^CMD .*apps\/api\/dist\/main\.js.*$/m) ?? []
  const [node, ...options] = JSON.parse(command.replace('CMD ', ''))
  const settings: AppSettings = {
    dataFolder: '',
    masterKey: '',
    shards: 1,
    network: 'simulator',
    apiPort: 1,
    environment: () => ({}),
    between: async (_name, url) => url,
  }
  const { nodeOptions = [] } = describeApi(settings, new Promise(() => undefined))
  expect(['node', ...nodeOptions, 'apps/api/dist/main.js']).toEqual([node, ...options])
})
