import { EventEmitter } from 'node:events'
import { makeLogger } from '@wagate/runtime/logger'
import type { UserFacingSocketConfig, WASocket } from 'baileys'
import { expect, test } from 'vitest'
import { makeInbound } from '../src/session/receiving/inbound.ts'
import type { MessageSecrets } from '../src/session/receiving/message-secrets.ts'

type Repository = ReturnType<NonNullable<UserFacingSocketConfig['makeSignalRepository']>>

test('a message of a group that cannot be decrypted is no longer waited for', async () => {
  const unstored = new Set<object>()
  const inbound = makeInbound({
    me: () => ({ id: '15550000001:1@s.whatsapp.net' }),
    store: async () => undefined,
    isStored: async () => false,
    findNumber: async () => null,
    secrets: {} as MessageSecrets,
    notes: { read: async () => undefined, write: async () => undefined },
    unstored: {
      add: (stanza) => void unstored.add(stanza),
      release: (stanza) => void unstored.delete(stanza),
      untilReleased: async () => undefined,
      hasRoom: () => true,
    },
    logger: makeLogger('test', 'silent'),
  })
  const ws = Object.assign(new EventEmitter(), { isOpen: true })
  inbound.attach({ ws } as unknown as WASocket)
  const ciphertext = Buffer.from('of an unknown sender key')
  ws.emit('CB:message', {
    tag: 'message',
    attrs: { id: '1', from: '120363000000000001@g.us', participant: '15550000002@s.whatsapp.net', t: '1' },
    content: [{ tag: 'enc', attrs: { type: 'skmsg', v: '2' }, content: ciphertext }],
  })
  expect(unstored.size).toBe(1)
  const repository = inbound.wrap({
    decryptGroupMessage: async () => {
      throw new Error('No sender key')
    },
  } as unknown as Repository)
  const given = { group: '120363000000000001@g.us', authorJid: '15550000002@s.whatsapp.net', msg: ciphertext }
  await expect(repository.decryptGroupMessage(given)).rejects.toThrow('No sender key')
  expect(unstored.size).toBe(0)
})
