import {
  Curve,
  generateSignalPubKey,
  initAuthCreds,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
  signedKeyPair,
} from 'baileys'
import { describe, expect, test } from 'vitest'
import { makeSignalSection } from '../src/session/credentials/signal-section.ts'
import { silent } from './silent-logger.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const recipient = '15550000009@s.whatsapp.net'

/** A sender with a key store in memory that takes a turn of the event loop for everything. */
function makeSender() {
  const stored = new Map<string, unknown>()
  const writes: SignalDataSet[] = []
  let failure: Error | undefined
  const keys: SignalKeyStore = {
    async get<Type extends keyof SignalDataTypeMap>(type: Type, ids: string[]) {
      await turn()
      const found: { [id: string]: SignalDataTypeMap[Type] } = {}
      for (const id of ids) {
        const value = stored.get(`${type} ${id}`)
        if (value != null) found[id] = value as SignalDataTypeMap[Type]
      }
      return found
    },
    async set(data) {
      await turn()
      if (failure) throw failure
      writes.push(data)
      for (const [type, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values)) stored.set(`${type} ${id}`, value)
      }
    },
  }
  const section = makeSignalSection(keys)
  // Without an answer from WhatsApp the recipient keeps its phone number as address.
  const repository = section.makeRepository({ creds: initAuthCreds(), keys }, silent, async () => [])
  return {
    stored,
    writes,
    section,
    repository,
    failWith(error: Error | undefined) {
      failure = error
    },
    encrypt: (text: string) => repository.encryptMessage({ jid: recipient, data: Buffer.from(text) }),
  }
}

async function meet(sender: ReturnType<typeof makeSender>): Promise<void> {
  const identity = Curve.generateKeyPair()
  const signedPreKey = signedKeyPair(identity, 1)
  await sender.repository.injectE2ESession({
    jid: recipient,
    session: {
      registrationId: 1,
      identityKey: generateSignalPubKey(identity.public),
      signedPreKey: {
        keyId: 1,
        publicKey: generateSignalPubKey(signedPreKey.keyPair.public),
        signature: signedPreKey.signature,
      },
      preKey: { keyId: 2, publicKey: generateSignalPubKey(Curve.generateKeyPair().public) },
    },
  })
}

/** The counter of the next message in the stored session. */
function storedCounter({ stored }: ReturnType<typeof makeSender>): number {
  const session = JSON.stringify([...stored].find(([key]) => key.startsWith('session '))?.[1])
  return Math.max(...[...session.matchAll(/"counter":(-?\d+)/g)].map(([, counter]) => Number(counter)))
}

describe('the Signal operations of a device', () => {
  test('never overlap, and each has stored its step before it returns the ciphertext', async () => {
    const sender = makeSender()
    await meet(sender)
    const before = storedCounter(sender)
    const stored: number[] = []
    await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        await sender.encrypt(`message ${index}`)
        stored.push(storedCounter(sender) - before)
      }),
    )
    expect(stored).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('of many senders to one recipient do not wait for each other', async () => {
    const senders = Array.from({ length: 5 }, makeSender)
    await Promise.all(senders.map(meet))
    const sent = senders.flatMap((sender) =>
      Array.from({ length: 5 }, (_, index) => sender.encrypt(`message ${index}`)),
    )
    expect(await Promise.all(sent)).toHaveLength(25)
  })

  /** A sender that has sent one message, and whose next write fails. */
  async function makeFailingSender() {
    const sender = makeSender()
    await meet(sender)
    await sender.encrypt('first')
    const before = storedCounter(sender)
    sender.failWith(new Error('another owner'))
    return { sender, before }
  }

  test('withhold the ciphertext when its step cannot be stored, and continue from the step before', async () => {
    const { sender, before } = await makeFailingSender()
    await expect(sender.encrypt('second')).rejects.toThrow('another owner')
    sender.failWith(undefined)
    await sender.encrypt('third')
    expect(storedCounter(sender) - before).toBe(1)
  })

  test('store no step that builds on one that could not be stored', async () => {
    const { sender, before } = await makeFailingSender()
    // The third is encrypted while the write of the second is failing.
    const encrypted = ['second', 'third'].map((text) => sender.encrypt(text))
    encrypted[0]?.catch(() => sender.failWith(undefined))
    const results = await Promise.allSettled(encrypted)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(storedCounter(sender)).toBe(before)
    await sender.encrypt('fourth')
    expect(storedCounter(sender) - before).toBe(1)
  })

  test('wait for the deletion of a session by Baileys, and are not undone by it', async () => {
    const sender = makeSender()
    await meet(sender)
    const id =
      [...sender.stored.keys()].find((key) => key.startsWith('session '))?.slice('session '.length) ?? ''
    const encrypted = sender.encrypt('first')
    const deleted = sender.section.keys.set({ session: { [id]: null } })
    await Promise.all([encrypted, deleted])
    expect(sender.writes.at(-1)).toEqual({ session: { [id]: null } })
  })
})

test('a sender key is stored for a group or a broadcast list only', async () => {
  const [us, them] = [makeSender(), makeSender()]
  const group = '120363000000000001@g.us'
  const { senderKeyDistributionMessage: axolotlSenderKeyDistributionMessage } =
    await them.repository.encryptGroupMessage({ group, meId: recipient, data: Buffer.from('text') })
  const take = (groupId: string) =>
    us.repository.processSenderKeyDistributionMessage({
      authorJid: recipient,
      item: { groupId, axolotlSenderKeyDistributionMessage },
    })
  for (const other of ['', recipient, 'a\0@g.us', `${'1'.repeat(61)}@g.us`]) {
    await expect(take(other)).rejects.toThrow()
  }
  expect([...us.stored]).toEqual([])
  const list = '1700000000@broadcast'
  for (const known of [group, list]) await take(known)
  expect([...us.stored.keys()]).toEqual(
    [group, list].map((known) => expect.stringContaining(`sender-key ${known}::`)),
  )
})

test('an address that Baileys notes beside an operation is stored even if the operation fails', async () => {
  const { stored, repository } = makeSender()
  const failing = repository.decryptMessage({
    jid: recipient,
    type: 'msg',
    ciphertext: Buffer.from('garbage'),
  })
  const noting = repository.lidMapping.storeLIDPNMappings([{ lid: '77@lid', pn: recipient }])
  await expect(failing).rejects.toThrow()
  await noting
  expect(stored.get('lid-mapping 15550000009')).toBe('77')
})

test('the addresses of only a few contacts are kept in memory, however many there are', async () => {
  const { repository, stored } = makeSender()
  const { lidMapping } = repository
  // Baileys keeps them here. When that is renamed, something else must bound it.
  expect(lidMapping).toHaveProperty('mappingCache')
  const pairs = Array.from({ length: 500 }, (_, n) => ({
    pn: `${15550001000 + n}@s.whatsapp.net`,
    lid: `${1000 + n}@lid`,
  }))
  const pns = pairs.map(({ pn }) => pn)
  await lidMapping.storeLIDPNMappings(pairs)
  for (const { pn, lid } of pairs) expect(await lidMapping.getLIDForPN(pn)).toBe(lid)
  stored.clear()
  const remembered = await lidMapping.getLIDsForPNs(pns)
  expect(remembered?.length ?? 0).toBeLessThanOrEqual(200)
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')
  expect(timers.length).toBeLessThan(100)
})
