import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { sendMessage } from '@wagate/api/operations/send-message'
import { repository } from '@wagate/devnet/app-process'
import { makeWebhookSecret } from '@wagate/shared/webhook-signature'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, test } from 'vitest'

type Parameters = { jsCode?: string; url?: string; bodyParameters?: { parameters: { name: string }[] } }
type Node = { id: string; name: string; type: string; typeVersion: number; parameters: Parameters }
type Workflow = {
  nodes: Node[]
  connections: Record<string, { main: { node: string; type: string; index: number }[][] }>
}

/** The versions of nodes that n8n 2 has, of those that the workflows use. */
const versions: Record<string, number[]> = {
  'n8n-nodes-base.code': [1, 2],
  'n8n-nodes-base.httpRequest': [1, 2, 3, 4, 4.1, 4.2, 4.3, 4.4, 4.5],
  'n8n-nodes-base.if': [1, 2, 2.1, 2.2, 2.3],
  'n8n-nodes-base.manualTrigger': [1],
  'n8n-nodes-base.webhook': [1, 1.1, 2, 2.1],
}

const readWorkflow = (name: string): Workflow =>
  JSON.parse(readFileSync(join(repository, `examples/n8n/${name}.json`), 'utf8'))

test.each(['answer-messages', 'send-message'])('%s connects nodes that n8n has', (name) => {
  const { nodes, connections } = readWorkflow(name)
  const names = nodes.map((node) => node.name)
  expect(new Set(names).size).toBe(names.length)
  expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length)
  for (const { type, typeVersion } of nodes) expect(versions[type] ?? [], type).toContain(typeVersion)
  const [trigger, ...others] = names
  const targets = Object.values(connections).flatMap(({ main }) => main.flat())
  expect(Object.keys(connections)[0]).toBe(trigger)
  expect(targets.map(({ node }) => node)).toEqual(others)
  expect(targets.every(({ type, index }) => type === 'main' && index === 0)).toBe(true)
})

test.each(['answer-messages', 'send-message'])('%s sends with parameters that the gateway knows', (name) => {
  const { url, bodyParameters } = readWorkflow(name).nodes.at(-1)?.parameters ?? {}
  const names = bodyParameters?.parameters.map((parameter) => parameter.name) ?? []
  expect(url).toMatch(/\/send-message$/)
  expect(names.length).toBeGreaterThanOrEqual(3)
  expect(Object.keys(sendMessage.parameters.shape)).toEqual(expect.arrayContaining(names))
})

describe('the node that verifies the signature', () => {
  const code = readWorkflow('answer-messages')
    .nodes.map(({ parameters }) => parameters.jsCode ?? '')
    .join('')
  const secret = makeWebhookSecret()
  const event = {
    event_id: 'evt_1',
    type: 'message.received',
    data: { message: { message: '\u{1f44b} "Hi"' } },
  }

  type Headers = Record<string, string>

  function sign(body: string, key = secret, at = new Date()): Headers {
    return {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(key).sign('evt_1', at, body),
    }
  }

  /** Runs the code as n8n does. */
  async function run(headers: Headers, body: string, kept = secret): Promise<unknown> {
    const filled = code.replace("const secret = 'whsec_'", `const secret = '${kept}'`)
    const node = runInNewContext(`async function node() {${filled}}; node`, {
      Buffer,
      require: createRequire(import.meta.url),
      $input: { first: () => ({ json: { headers } }) },
    })
    const helpers = { getBinaryDataBuffer: async () => Buffer.from(body) }
    return JSON.parse(JSON.stringify(await node.call({ helpers })))
  }

  it.each([
    ['an event', event, [{ json: event }]],
    ['a batch', { events: [event, event] }, [{ json: event }, { json: event }]],
  ])('makes items of %s', async (_, content, items) => {
    const body = JSON.stringify(content)
    expect(await run(sign(body), body)).toEqual(items)
    const other = sign(body, makeWebhookSecret())['webhook-signature']
    const rotated = { ...sign(body), 'webhook-signature': `${other} ${sign(body)['webhook-signature']}` }
    expect(await run(rotated, body)).toEqual(items)
  })

  const body = JSON.stringify(event)
  const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000)
  it.each([
    ['another secret', sign(body, makeWebhookSecret()), 'The signature is wrong'],
    ['another body', sign(`${body} `), 'The signature is wrong'],
    ['another id', { ...sign(body), 'webhook-id': 'evt_2' }, 'The signature is wrong'],
    ['no signature', { ...sign(body), 'webhook-signature': '' }, 'The signature is wrong'],
    ['six minutes ago', sign(body, secret, minutesFromNow(-6)), 'The request is not recent'],
    ['in six minutes', sign(body, secret, minutesFromNow(6)), 'The request is not recent'],
    ['no time', { ...sign(body), 'webhook-timestamp': 'soon' }, 'The request is not recent'],
  ])('refuses %s', async (_, headers, reason) => {
    await expect(run(headers, body)).rejects.toThrow(reason)
  })

  it.each(['whsec_', `whsec_${randomBytes(4).toString('base64')}`])('refuses all with %s', async (kept) => {
    await expect(run(sign(body), body, kept)).rejects.toThrow('Put the secret')
  })
})
