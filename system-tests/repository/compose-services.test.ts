import { dispatcherShape } from '@wagate/worker/webhooks/run-dispatcher'
import { expect, test } from 'vitest'
import { service, withSet } from './compose-file.ts'

const services = withSet()

test.each(['postgres:18', 'postgres:16', 'postgres:19'])(
  'the data of %s are in the named volume',
  (image) => {
    const { volumes, environment } = service('postgres', { POSTGRES_IMAGE: image })
    const [, folder] = String(volumes?.[0]).split(':')
    expect(volumes).toEqual([`postgres:${folder}`])
    expect(environment?.PGDATA).toMatch(new RegExp(`^${folder}/`))
    expect(service('postgres', { POSTGRES_DATA: '19/docker' }).environment?.PGDATA).toBe(
      `${folder}/19/docker`,
    )
  },
)

/** Bytes of a size such as 512m or 256mb. */
function bytesOf(size = ''): number {
  const [, number, unit = ''] = /^(\d+)([kmg])b?$/i.exec(size) ?? []
  return Number(number) * 1024 ** ' kmg'.indexOf(unit.toLowerCase())
}

test('Redis refuses writes before its container is out of memory', () => {
  const { command = [], mem_limit } = service('redis')
  const after = (option: string) => command[command.indexOf(option) + 1]
  expect(after('--maxmemory-policy')).toBe('noeviction')
  expect(bytesOf(after('--maxmemory'))).toBeGreaterThan(0)
  expect(bytesOf(after('--maxmemory'))).toBeLessThanOrEqual(bytesOf(mem_limit) / 2)
})

test('a dispatcher runs if it is asked for, with every setting that it reads', () => {
  const { profiles, command, environment = {} } = service('dispatcher')
  expect(profiles).toEqual(['dispatcher'])
  expect(command?.slice(1)).toEqual(['apps/worker/dist/cli.js', 'dispatcher'])
  const ofImage = ['METRICS_HOST', 'METRICS_PORT']
  expect(
    Object.keys(environment)
      .filter((name) => name !== 'NODE_EXTRA_CA_CERTS')
      .sort(),
  ).toEqual(
    Object.keys(dispatcherShape)
      .filter((name) => !ofImage.includes(name))
      .sort(),
  )
  const others = Object.entries(services).filter(([name]) => name !== 'dispatcher')
  expect(others.map(([, { profiles: ofOther }]) => ofOther)).toEqual(others.map(() => undefined))
})

test('several API processes get a range of ports', () => {
  const set = { PORT: '3000-3002', API_PROCESSES: '3' }
  expect(service('api', set)).toMatchObject({ ports: ['127.0.0.1:3000-3002:3000'], deploy: { replicas: 3 } })
  expect(service('api')).toMatchObject({ ports: ['127.0.0.1:3000:3000'], deploy: { replicas: 1 } })
})

test('the connections of a usual number of processes fit into Postgres', () => {
  const { command = [] } = service('postgres')
  const [, connections] = /max_connections=(\d+)/.exec(command.join(' ')) ?? []
  const counted =
    16 * Number(service('worker').deploy?.replicas) + 18 * Number(service('api').deploy?.replicas)
  expect(Number(connections)).toBeGreaterThan(2 * counted)
  expect(service('postgres', { POSTGRES_CONNECTIONS: '900' }).command).toContain('max_connections=900')
})

test('the images of the gateway have a name and a version, one for each target', () => {
  const set = { WAGATE_IMAGE: 'registry.example.com/wagate', WAGATE_VERSION: '0.2.0' }
  for (const [name, { build, image }] of Object.entries(withSet(set)))
    if (build) expect([name, image]).toEqual([name, `registry.example.com/wagate-${build.target}:0.2.0`])
})

test('the health check of a service asks the service, and not the kernel', () => {
  const own = Object.entries(services).filter(([, { build, restart }]) => build && restart !== 'no')
  expect(own.map(([name]) => name)).toEqual(['api', 'worker', 'dispatcher', 'housekeeping'])
  for (const [name, { healthcheck }] of own)
    expect([name, healthcheck?.test.slice(0, 3)]).toEqual([name, ['CMD', 'node', 'scripts/healthcheck.mjs']])
})

test('processes trust the authorities of CA_FILE', () => {
  for (const name of ['api', 'worker', 'dispatcher']) {
    const { environment, volumes } = service(name, { CA_FILE: './ca.pem' })
    expect([name, volumes]).toEqual([
      name,
      expect.arrayContaining([`./ca.pem:${environment?.NODE_EXTRA_CA_CERTS}:ro`]),
    ])
    expect(service(name).volumes).toContain(`/dev/null:${environment?.NODE_EXTRA_CA_CERTS}:ro`)
  }
})

test('no service is told to write to a place that it does not have', () => {
  for (const [name, { environment = {} }] of Object.entries(services))
    expect([name, Object.keys(environment).filter((variable) => variable.startsWith('BOOTSTRAP'))]).toEqual([
      name,
      [],
    ])
})
