import { createHash } from 'node:crypto'
import { type BinaryNode, encodeBigEndian, getBinaryNodeChild, getBinaryNodeChildren } from 'baileys'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../src/simulator.ts'
import { type Companion, linkedCompanion, newNumber } from './companion.ts'

let sim: Simulator
let companion: Companion
beforeAll(async () => {
  sim = await startSimulator()
  companion = await linkedCompanion(sim)
})
afterAll(async () => {
  await companion.end()
  expect(sim.stats()).toMatchObject({ unknown: {}, failures: 0 })
  await sim.close()
})

function ask(xmlns: string, type: 'get' | 'set', content: BinaryNode[]): Promise<BinaryNode> {
  return companion.sock.query({ tag: 'iq', attrs: { to: '@s.whatsapp.net', type, xmlns }, content })
}

const leaf = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content })
const bytesOf = (parent: BinaryNode | undefined, tag: string) =>
  Buffer.from((getBinaryNodeChild(parent, tag)?.content ?? []) as Uint8Array)
const uintOf = (content: BinaryNode['content']) => Buffer.from(content as Uint8Array).readUIntBE(0, 3)

test('takes an upload of keys in any order of its parts', async () => {
  const other = await linkedCompanion(sim)
  const { registrationId, signedIdentityKey, signedPreKey } = other.auth.creds
  const { prekey_uploads } = sim.stats()
  const value = Buffer.alloc(32, 9)
  await other.sock.query({
    tag: 'iq',
    attrs: { to: '@s.whatsapp.net', type: 'set', xmlns: 'encrypt' },
    content: [
      leaf('identity', signedIdentityKey.public),
      {
        tag: 'skey',
        attrs: {},
        content: [
          leaf('id', encodeBigEndian(signedPreKey.keyId, 3)),
          leaf('value', signedPreKey.keyPair.public),
          leaf('signature', signedPreKey.signature),
        ],
      },
      {
        tag: 'list',
        attrs: {},
        content: [
          { tag: 'key', attrs: {}, content: [leaf('id', encodeBigEndian(9999, 3)), leaf('value', value)] },
        ],
      },
      leaf('type', Buffer.from([5])),
      leaf('registration', encodeBigEndian(registrationId)),
    ],
  })
  expect(sim.stats().prekey_uploads).toBe(prekey_uploads + 1)
  await other.end()
})

test('describes the uploaded keys so that the client finds the same hash', async () => {
  const digest = getBinaryNodeChild(await ask('encrypt', 'get', [{ tag: 'digest', attrs: {} }]), 'digest')
  const ids = getBinaryNodeChildren(getBinaryNodeChild(digest, 'list'), 'id').map(({ content }) =>
    uintOf(content),
  )
  expect(ids.length).toBeGreaterThan(100)
  const preKeys = await companion.auth.keys.get('pre-key', ids.map(String))
  const { signedIdentityKey, signedPreKey } = companion.auth.creds
  const signed = getBinaryNodeChild(digest, 'skey')
  expect(uintOf(getBinaryNodeChild(signed, 'id')?.content)).toBe(signedPreKey.keyId)
  expect(bytesOf(digest, 'identity')).toEqual(Buffer.from(signedIdentityKey.public))
  const hash = createHash('sha1')
    .update(signedIdentityKey.public)
    .update(signedPreKey.keyPair.public)
    .update(signedPreKey.signature)
  for (const id of ids) hash.update(preKeys[id]?.public ?? '')
  expect(bytesOf(digest, 'hash')).toEqual(hash.digest())
})

test('gives the keys of the devices that a client lacks', async () => {
  const other = await linkedCompanion(sim)
  const device = other.sock.user?.id.split(/[:@]/)[1] ?? ''
  const jid = `${other.number}@s.whatsapp.net`
  const missing = ['0', device, '77'].map((id) => ({ tag: 'device', attrs: { id } }))
  const answer = await ask('encrypt', 'get', [
    { tag: 'key_fetch', attrs: {}, content: [{ tag: 'user', attrs: { jid }, content: missing }] },
  ])
  const [user] = getBinaryNodeChildren(getBinaryNodeChild(answer, 'list'), 'user')
  const devices = getBinaryNodeChildren(user, 'device')
  expect(devices.map(({ attrs }) => attrs.id)).toEqual(['0', device])
  expect(bytesOf(devices[1], 'identity')).toEqual(Buffer.from(other.auth.creds.signedIdentityKey.public))
  await other.end()
})

test('answers what older clients ask after their login', async () => {
  const answer = await ask('w', 'get', [{ tag: 'props', attrs: { protocol: '2', hash: '' } }])
  expect(getBinaryNodeChild(answer, 'props')?.attrs).toMatchObject({ hash: 'sim' })
})

test('says of profiles, businesses and groups that there are none', async () => {
  const jid = `${newNumber()}@s.whatsapp.net`
  const { sock } = companion
  await expect(sock.profilePictureUrl(jid)).rejects.toMatchObject({ data: 404 })
  expect(await sock.getBusinessProfile(jid)).toBeUndefined()
  expect(await sock.groupFetchAllParticipating()).toEqual({})
  await expect(sock.groupMetadata('120363000000000000@g.us')).rejects.toMatchObject({ data: 404 })
  await expect(sock.groupCreate('Group', [jid])).rejects.toMatchObject({ data: 403 })
  await sock.updateProfileStatus('At work')
})
