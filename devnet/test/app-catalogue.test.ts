import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AppSettings, describeApi, describeWorker } from '../src/app-catalogue.ts'
import { repository } from '../src/app-process.ts'

const settings: AppSettings = {
  dataFolder: '',
  masterKey: '',
  shards: 1,
  network: 'simulator',
  apiPort: 1,
  compiledIn: '',
  environment: () => ({}),
  proxyFor: async (_name, url) => url,
}
const never = new Promise<never>(() => undefined)

test.each([
  ['api', describeApi(settings, never)],
  ['worker', describeWorker(settings, 'worker-1', never)],
])('the %s, compiled, runs as in its image', (name, { entry, nodeOptions = [] }) => {
  const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8')
  const [command = ''] = dockerfile.match(new RegExp(`^CMD .*apps/${name}/dist/main\\.js.*$`, 'm')) ?? []
  const options: string[] = JSON.parse(command.replace('CMD ', ''))
  const isPreload = (index: number) => options[index] === '--import' || options[index - 1] === '--import'
  expect(options.filter((_, index) => !isPreload(index))).toEqual(['node', ...nodeOptions, entry])
})
