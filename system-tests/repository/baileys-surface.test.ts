import { existsSync, readFileSync } from 'node:fs'
import { expect, describe as group, test } from 'vitest'
import { corrected } from '../../scripts/baileys-code.mjs'
import { compareSurfaces, readSurface, storedSurface } from '../../scripts/baileys-surface.mjs'
import { repository } from '../../scripts/run.mjs'
import { readHunks, unpatch } from '../../scripts/unpatch.mjs'

test('the stored surface is that of the installed Baileys and of the sources: npm run check:baileys -- --write', () => {
  expect(readSurface(repository)).toEqual(storedSurface())
}, 60_000)

test('the stored surface has what is imported, passed, listened to, patched and replaced', () => {
  const { symbols } = storedSurface()
  expect(symbols).toMatchObject({
    'type S_WHATSAPP_NET': 'S_WHATSAPP_NET = "@s.whatsapp.net"',
    'type makeWASocket().generateMessageTag': 'generateMessageTag: () => string',
    'type SocketConfig.emitOwnEvents': 'emitOwnEvents: boolean',
    'type BaileysEventMap.creds.update': "'creds.update': Partial<AuthenticationCreds>",
    'type SignalDataTypeMap.lid-mapping': "'lid-mapping': string",
    'listener CB:receipt': expect.stringContaining('messages-recv.js'),
    'listener CB:notification,type:crsc_continuation': 'none',
    'code libsignal/src/curve.js verifySignature': expect.stringContaining('sha256'),
    'protobuf HistorySync 19': 'none',
  })
  // As it is before our patch.
  expect(symbols['code baileys/lib/WABinary/encode.js pushBytes']).toContain('for (const b of bytes)')
})

test('has all code that the list of corrections names, for files that exist', () => {
  const { symbols } = storedSurface()
  const keys = corrected.flatMap(([, file, ...names]) => names.map((name) => `code ${file} ${name}`))
  expect(keys.filter((key) => !(key in symbols))).toEqual([])
  const ours = corrected.map(([by]) => (by === 'patches' ? by : `apps/worker/src/${by}`))
  expect(ours.filter((path) => !existsSync(`${repository}/${path}`))).toEqual([])
})

test('names each correction of Baileys that docs/whatsapp.md lists', () => {
  const docs = readFileSync(`${repository}/docs/whatsapp.md`, 'utf8')
  const rows = docs.match(/^\| `(?:preload|session)\/.*?\|/gm) ?? []
  const named = new Set(corrected.map(([by]) => by))
  const unnamed = rows.filter((row) => {
    const files = row.match(/[\w-]+(?:\/[\w-]+)+\.ts/g) ?? []
    return !files.some((file) => named.has(file))
  })
  expect(rows.length).toBeGreaterThan(20)
  expect(unnamed).toEqual([])
})

group('another surface', () => {
  const stored = { 'type a': 'a: string', 'type b': 'b: () => void' }

  test('passes when it is the same, or larger', () => {
    expect(compareSurfaces(stored, { ...stored, 'type c': 'c' })).toEqual([])
  })

  test('fails with a line for a symbol that was removed', () => {
    expect(compareSurfaces(stored, { 'type a': 'a: string' })).toEqual(['removed: type b (b: () => void)'])
  })

  test('fails with a line for a symbol that was changed', () => {
    expect(compareSurfaces(stored, { ...stored, 'type a': 'a: number' })).toEqual([
      'changed: type a was a: string is a: number',
    ])
  })
})

group('a patch', () => {
  const patch = [
    'diff --git a/lib/a.js b/lib/a.js',
    '--- a/lib/a.js',
    '+++ b/lib/a.js',
    '@@ -1,3 +1,3 @@ context',
    ' one',
    '-two',
    '+2',
    ' three',
    '',
  ].join('\n')

  test('is undone in the text that it has made', () => {
    const hunks = readHunks(patch)
    expect(hunks).toEqual([
      { file: 'baileys/lib/a.js', old: 'one\ntwo\nthree', new: 'one\n2\nthree', at: 'one\n'.length },
    ])
    expect(unpatch('zero\none\n2\nthree\nfour', hunks)).toBe('zero\none\ntwo\nthree\nfour')
  })

  test('is missed in another text', () => {
    expect(() => unpatch('one\ntwo\nthree', readHunks(patch))).toThrow('has not been applied')
  })
})
