import { initAuthCreds } from 'baileys'
import { expect, test } from 'vitest'
import { contentOf } from '../src/outbox/content.ts'
import { makeVault } from '../src/session/credentials/vault.ts'
import { makeMessage } from './waiting-rows.ts'

const key = { id: '01020304', bytes: Buffer.alloc(32, 1) }
const creds = initAuthCreds()
const recipient = '15550001111@s.whatsapp.net'

/** As an owner does with this master key. */
async function secretOf(id: string, of = creds, master = key): Promise<string> {
  const vault = makeVault({ current: master, all: new Map([[master.id, master]]) }, 7)
  const text = { ...makeMessage(1, recipient), id, body: 'The same text' }
  const { messageContextInfo } = await contentOf({ vault, creds: of }, text, recipient)
  return Buffer.from(messageContextInfo?.messageSecret ?? []).toString('base64')
}

test('the secret of a text is the same for every attempt, also after the master key has changed', async () => {
  const secret = await secretOf('message-1')
  expect(Buffer.from(secret, 'base64')).toHaveLength(32)
  expect(await secretOf('message-1')).toBe(secret)
  expect(await secretOf('message-1', creds, { id: '05060708', bytes: Buffer.alloc(32, 2) })).toBe(secret)
})

test('no other message and no other link has it', async () => {
  const secret = await secretOf('message-1')
  expect(await secretOf('message-2')).not.toBe(secret)
  expect(await secretOf('message-1', initAuthCreds())).not.toBe(secret)
})
