import { randomBytes } from 'node:crypto'
import { Curve, NOISE_WA_HEADER, proto } from 'baileys'
import { expect, test } from 'vitest'
import { issueServerCertificate } from '../src/wire/certificate.ts'
import { NoiseResponder } from '../src/wire/noise.ts'
import { signingKeyFromSeed } from '../src/wire/signing-key.ts'
import { NoiseInitiator } from './noise-initiator.ts'

const certificate = issueServerCertificate(signingKeyFromSeed(randomBytes(32)))
const payload = proto.ClientPayload.encode({ username: 4_915_112_345_678, device: 7 }).finish()

test.each([
  ['a client that knows no key of the server', undefined],
  ['a client that knows the key of the server', certificate.static.public],
  ['a client that knows another key', Buffer.from(Curve.generateKeyPair().public)],
])('agrees on transport keys with %s', (_, serverKey) => {
  const initiator = new NoiseInitiator(payload)
  const responder = new NoiseResponder(certificate)
  const hello = serverKey ? initiator.resume(serverKey) : initiator.start()
  const client = initiator.finish(responder.answerHello(Buffer.from(hello), NOISE_WA_HEADER))
  expect(client.serverKey).toEqual(certificate.static.public)
  const server = responder.finish(Buffer.from(client.finish))
  expect(server.clientKey).toEqual(Buffer.from(initiator.key.public))
  expect(server.payload.device).toBe(7)
  expect(server.transport.decrypt(client.encrypt(Buffer.from('ping')))).toEqual(Buffer.from('ping'))
})
