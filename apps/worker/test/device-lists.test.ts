import type { WASocket } from 'baileys'
import { expect, test } from 'vitest'
import { makeDeviceLists } from '../src/session/sending/fan-out.ts'

test('a device list is forgotten once for each new hash, and again if that failed', async () => {
  const forgotten: string[] = []
  let failure: Error | undefined = new Error('Postgres restarts')
  const del = async (user: string) => {
    if (failure) throw failure
    forgotten.push(user)
  }
  const sock = { user: { id: '15550001@s.whatsapp.net' }, userDevicesCache: { del } } as unknown as WASocket
  const { compare } = makeDeviceLists(sock)
  const acknowledge = () =>
    compare(
      '15550002@s.whatsapp.net',
      { encrypted: ['15550002@s.whatsapp.net'], failed: [] },
      { kind: 'acknowledged', deviceHash: '2:other' },
    )
  await expect(acknowledge()).rejects.toThrow('Postgres restarts')
  failure = undefined
  await acknowledge()
  expect(forgotten).toEqual(['15550002', '15550001'])
  await acknowledge()
  expect(forgotten).toHaveLength(2)
})
