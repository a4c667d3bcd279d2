import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MediaType } from '@wagate/shared/message-kinds'
import { type Simulator, startSimulator } from '@wagate/simulator'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inspectFile } from '../src/media/inspection/inspect-file.ts'

// The simulator cannot decode its files itself.

const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
const [from, to] = ['4915112345601', '4915112345602']
let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator()
})
afterAll(async () => {
  await simulator.close()
  rmSync(folder, { recursive: true })
})

async function fileOf(as: 'picture' | 'sticker' | 'animated_sticker' | 'video' | 'gif' | 'voice_note') {
  const { wa_message_id } = await simulator.send(from, { to, as })
  const file = join(folder, as)
  writeFileSync(file, (await simulator.media(to, { from, wa_message_id })).body)
  return file
}

test.each([
  ['picture', { format: 'jpeg', width: 64, height: 48 }],
  ['sticker', { format: 'webp', width: 64, height: 64 }],
  ['animated_sticker', { format: 'webp', width: 64, pages: 2 }],
] as const)('a simulated %s can be decoded', async (as, expected) => {
  const picture = sharp(await fileOf(as), { animated: true })
  expect(await picture.metadata()).toMatchObject(expected)
  expect((await picture.raw().toBuffer()).some((byte) => byte > 0)).toBe(true)
})

test.each<['video' | 'gif' | 'voice_note', MediaType, object]>([
  ['video', 'video', { mime: 'video/mp4', seconds: 2, width: 64, height: 64 }],
  ['gif', 'video', { mime: 'video/mp4', seconds: 2, width: 64, height: 48 }],
  ['voice_note', 'audio', { mime: 'audio/ogg; codecs=opus', seconds: 2 }],
])('a simulated %s has the tracks of one', async (as, type, expected) => {
  expect(await inspectFile({ file: await fileOf(as), type })).toMatchObject(expected)
})
