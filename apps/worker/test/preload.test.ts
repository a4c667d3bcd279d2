import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { sourceOptions } from '@wagate/test-kit/source-options'
import { describe, expect, test } from 'vitest'

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
    import { randomBytes } from 'node:crypto'
    import { createRequire } from 'node:module'
    const require = createRequire(createRequire('${fileURLToPath(import.meta.url)}').resolve('baileys'))
    const curve = require('libsignal/src/curve.js')
    const algorithm = createRequire(require.resolve('libsignal/src/curve.js'))('curve25519-js')
    const verify = algorithm.verify
    let runs = 0
    algorithm.verify = (...given) => { runs += 1; return verify(...given) }
    const changed = (bytes, at, mask) => { const copy = Buffer.from(bytes); copy[at] ^= mask; return copy }
    const check = (...given) => { try { return curve.verifySignature(...given) } catch (error) { return error.message } }
    const results = []
    for (let round = 0; round < 8; round++) {
      const { pubKey, privKey } = curve.generateKeyPair()
      const message = randomBytes(round * 50)
      const signature = curve.calculateSignature(privKey, message)
      results.push([
        check(pubKey, message, signature),
        check(new Uint8Array(pubKey), message, signature),
        check(pubKey, Buffer.concat([message, Buffer.of(0)]), signature),
        check(pubKey, message, changed(signature, 1, 1)),
        check(pubKey, message, changed(signature, 62, 1)),
        check(pubKey, message, changed(signature, 63, 128)),
        check(changed(pubKey, 5, 1), message, signature),
        check(changed(pubKey, 0, 1), message, signature),
        check(changed(pubKey, 32, 128), message, signature),
        check(curve.generateKeyPair().pubKey, message, signature),
        check(pubKey, message, signature.subarray(1)),
        check(pubKey.subarray(1, 32), message, signature),
        check(pubKey, undefined, signature),
        check(pubKey, message, Buffer.alloc(64)),
        check(curve.generateKeyPair().pubKey, message, signature, true),
      ])
    }
    // The points without an inverse, zero and minus one.
    for (const u of ['00'.repeat(32), 'ec' + 'ff'.repeat(30) + '7f'])
      results.push([check(Buffer.from('05' + u, 'hex'), Buffer.from('x'), Buffer.alloc(64, 1))])
    process.stdout.write(JSON.stringify({ results, runs }))`

  test('find what libsignal finds, in native code', () => {
    const [ours, plain] = [JSON.parse(run(checks)), JSON.parse(run(checks, false))]
    expect(ours.results).toEqual(plain.results)
    expect(ours.results.map(([valid]: unknown[]) => valid)).toEqual([...Array(8).fill(true), false, false])
    // Keys of an unusual form are left to libsignal, and with the last argument it checks nothing.
    expect([ours.runs, plain.runs]).toEqual([0, 8 * 9 + 2])
  })
})

describe('the key pairs of the worker', () => {
  const pairs = `
    import crypto from 'node:crypto'
    import { createRequire, syncBuiltinESMExports } from 'node:module'
    const require = createRequire(createRequire('${fileURLToPath(import.meta.url)}').resolve('baileys'))
    const curve = require('libsignal/src/curve.js')
    const all = Array.from({ length: 50 }, () => curve.generateKeyPair())
    process.stdout.write(JSON.stringify({
      lengths: [...new Set(all.map(({ pubKey, privKey }) => [pubKey.length, pubKey[0], privKey.length].join()))],
      distinct: new Set(all.map(({ privKey }) => privKey.toString('hex'))).size,
      match: all.every(({ pubKey, privKey }) => curve.getPublicFromPrivateKey(privKey).equals(pubKey)),
      buffers: all.every(({ pubKey, privKey }) => Buffer.isBuffer(pubKey) && Buffer.isBuffer(privKey)),
    }))`

  test('are those of libsignal', () => {
    const expected = { lengths: ['33,5,32'], distinct: 50, match: true, buffers: true }
    expect([run(pairs), run(pairs, false)].map((text) => JSON.parse(text))).toEqual([expected, expected])
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

  test('does not exceed the limit, whether unpacked in one piece or as a stream', () => {
    expect(run(bomb).trim()).toBe(JSON.stringify([2 ** 20, 2 ** 20, 'refused', 'refused']))
  })

  test('would exceed it without the preload', () => {
    expect(run(bomb, false).trim()).toBe(JSON.stringify([2 ** 20, 2 ** 20, 2 ** 24, 2 ** 24]))
  })
})
