import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { sourceOptions } from '@wagate/test-kit/source-options'
import { beforeAll, describe, expect, test } from 'vitest'

const preload = fileURLToPath(new URL('../src/preload.ts', import.meta.url))

/** Runs a program in a separate process with the options of the worker. Returns its output. */
function run(program: string, withPreload = true): string {
  const preloads = withPreload ? [...sourceOptions, '--import', preload] : []
  return execFileSync(process.execPath, [...preloads, '--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
}

describe('the console of the worker', () => {
  test('prints nothing, so that a library cannot print keys', () => {
    const program = `for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'])
      console[method]('Closing session:', { privKey: 'secret' })`
    expect(run(program)).toBe('')
  })

  test('prints the private keys of a closed Signal session without the preload', () => {
    expect(run(`console.info('Closing session:', { privKey: 'secret' })`, false)).toContain('secret')
  })
})

describe('the signature checks of the worker', () => {
  const checks = `
    import { createRequire } from 'node:module'
    const require = createRequire(createRequire('${fileURLToPath(import.meta.url)}').resolve('baileys'))
    const curve = require('libsignal/src/curve.js')
    const algorithm = createRequire(require.resolve('libsignal/src/curve.js'))('curve25519-js')
    const verify = algorithm.verify
    let runs = 0
    algorithm.verify = (...given) => { runs += 1; return verify(...given) }
    const { pubKey, privKey } = curve.generateKeyPair()
    const message = Buffer.from('a certificate')
    const signature = curve.calculateSignature(privKey, message)
    const changed = (bytes) => { const copy = Buffer.from(bytes); copy[copy.length - 2] ^= 1; return copy }
    const results = []
    for (let round = 0; round < 3; round++) results.push(
      curve.verifySignature(pubKey, message, signature),
      curve.verifySignature(pubKey, changed(message), signature),
      curve.verifySignature(pubKey, message, changed(signature)),
      curve.verifySignature(curve.generateKeyPair().pubKey, message, signature),
    )
    process.stdout.write(JSON.stringify({ results, runs }))`

  let ours: { results: boolean[]; runs: number }
  beforeAll(() => {
    ours = JSON.parse(run(checks))
  })

  test('accept valid and reject invalid signatures, however often they are repeated', () => {
    const { results } = ours
    expect(results).toEqual(Array.from({ length: 3 }, () => [true, false, false, false]).flat())
  })

  test('do not verify a valid signature twice', () => {
    expect(ours.runs).toBe(1 + 3 * 3)
    expect(JSON.parse(run(checks, false)).runs).toBe(3 * 4)
  })
})

describe('the key agreements of the worker', () => {
  const agreements = `
    import crypto from 'node:crypto'
    import { createRequire, syncBuiltinESMExports } from 'node:module'
    const require = createRequire(createRequire('${fileURLToPath(import.meta.url)}').resolve('baileys'))
    const curve = require('libsignal/src/curve.js')
    const createPrivateKey = crypto.createPrivateKey
    const formats = []
    crypto.createPrivateKey = (key) => { formats.push(key.format); return createPrivateKey(key) }
    syncBuiltinESMExports()
    const privateKeys = [1, 2].map((byte) => Buffer.alloc(32, byte))
    const [first, second] = privateKeys.map(curve.getPublicFromPrivateKey)
    const agree = (publicKey, privateKey) => {
      try { return curve.calculateAgreement(publicKey, privateKey).toString('hex') } catch { return 'refused' }
    }
    const agreed = [agree(first, privateKeys[1]), agree(second, privateKeys[0])]
    const used = [...formats]
    const refused = [
      agree(Buffer.concat([first.subarray(0, 1), Buffer.alloc(32)]), privateKeys[0]),
      agree(Buffer.concat([Buffer.alloc(1), first.subarray(1)]), privateKeys[0]),
      agree(first, privateKeys[0].subarray(1)),
      agree([...first], privateKeys[0]),
    ]
    process.stdout.write(JSON.stringify({ results: [...agreed, ...refused], used }))`

  test('are those of libsignal, and read no DER', () => {
    const [ours, plain] = [JSON.parse(run(agreements)), JSON.parse(run(agreements, false))]
    expect(ours.results).toEqual(plain.results)
    expect(new Set(ours.results.slice(0, 2)).size).toBe(1)
    expect(ours.results.slice(2)).toEqual(Array(4).fill('refused'))
    expect([ours.used, plain.used]).toEqual([
      ['jwk', 'jwk'],
      ['der', 'der'],
    ])
  })
})

describe('the Signal sessions of the worker', () => {
  const crossed = `
    import { createRequire } from 'node:module'
    const require = createRequire(createRequire('${fileURLToPath(import.meta.url)}').resolve('baileys'))
    const { ProtocolAddress, SessionBuilder, SessionCipher, SessionRecord } = require('libsignal')
    const curve = require('libsignal/src/curve.js')
    for (const method of ['error', 'info', 'warn']) console[method] = () => undefined

    function makeParty(name) {
      const [identity, signed, once] = [0, 1, 2].map(() => curve.generateKeyPair())
      let stored
      const storage = {
        loadSession: () => stored && SessionRecord.deserialize(stored),
        storeSession: (_, record) => { stored = record.serialize() },
        isTrustedIdentity: () => true,
        loadPreKey: () => once,
        removePreKey: () => undefined,
        loadSignedPreKey: () => signed,
        getOurRegistrationId: () => 7,
        getOurIdentity: () => identity,
      }
      const bundle = {
        registrationId: 7,
        identityKey: identity.pubKey,
        signedPreKey: {
          keyId: 1,
          publicKey: signed.pubKey,
          signature: curve.calculateSignature(identity.privKey, signed.pubKey),
        },
        preKey: { keyId: 2, publicKey: once.pubKey },
      }
      return { address: new ProtocolAddress(name, 1), storage, bundle }
    }

    const alice = makeParty('alice')
    const bob = makeParty('bob')
    const meet = (one, other) => new SessionBuilder(one.storage, other.address).initOutgoing(other.bundle)
    const write = (from, to) => new SessionCipher(from.storage, to.address).encrypt(Buffer.from('hello'))
    function read(to, from, { type, body }) {
      const cipher = new SessionCipher(to.storage, from.address)
      const bytes = Buffer.from(body, 'binary')
      return (type === 3 ? cipher.decryptPreKeyWhisperMessage(bytes) : cipher.decryptWhisperMessage(bytes)).then(
        String,
        () => 'undecryptable',
      )
    }

    await meet(alice, bob)
    await meet(bob, alice)
    const [ofAlice, ofBob] = [await write(alice, bob), await write(bob, alice)]
    const texts = [await read(alice, bob, ofBob), await read(bob, alice, ofAlice)]
    for (let round = 0; round < 3; round++) {
      texts.push(await read(alice, bob, await write(bob, alice)))
      texts.push(await read(bob, alice, await write(alice, bob)))
    }
    process.stdout.write(JSON.stringify(texts))`

  test('stay intact when both sides write first', () => {
    expect(JSON.parse(run(crossed))).toEqual(Array(8).fill('hello'))
  })

  test('would not stay intact without the preload', () => {
    expect(JSON.parse(run(crossed, false))).toContain('undecryptable')
  })
})

describe('what the worker unpacks', () => {
  const bomb = `
    import { promisify } from 'node:util'
    import { createInflate, deflateSync, inflate } from 'node:zlib'
    const say = (value) => process.stdout.write(value + '\\n')
    const packed = (bytes) => deflateSync(Buffer.alloc(bytes))
    const whole = (bytes) => promisify(inflate)(packed(bytes)).then(({ length }) => length, () => 'refused')
    const piecewise = async (bytes) => {
      let size = 0
      const stream = createInflate()
      stream.end(packed(bytes))
      try { for await (const chunk of stream) size += chunk.length } catch { return 'refused' }
      return size
    }
    say(JSON.stringify([await whole(2 ** 20), await piecewise(2 ** 20), await whole(2 ** 24), await piecewise(2 ** 24)]))`

  test('does not exceed the limit, whether unpacked at once or as a stream', () => {
    expect(run(bomb).trim()).toBe(JSON.stringify([2 ** 20, 2 ** 20, 'refused', 'refused']))
  })

  test('would exceed it without the preload', () => {
    expect(run(bomb, false).trim()).toBe(JSON.stringify([2 ** 20, 2 ** 20, 2 ** 24, 2 ** 24]))
  })
})
