import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MediaType } from '@wagate/shared/message-kinds'
import {
  makeAac,
  makeAmr,
  makeMp3,
  makeMp4,
  makeVariableMp3,
  makeVoiceNote,
  makeWideAmr,
  withId3,
} from '@wagate/test-kit/media/make-recordings'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { inspectFile } from '../src/media/inspection/inspect-file.ts'
import type { MediaFacts } from '../src/media/inspection/media-facts.ts'

const folder = mkdtempSync(join(tmpdir(), 'wagate-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

function inspect(bytes: Buffer, type: MediaType): Promise<MediaFacts | null> {
  const file = join(folder, 'file')
  writeFileSync(file, bytes)
  return inspectFile({ file, type })
}

const picture = { kind: 'video', width: 640, height: 360 } as const
const sound = { kind: 'audio' } as const
const upright = { ...picture, rotation: 90 }
const mp4 = (brand: string, ...tracks: Parameters<typeof makeMp4>[2]) => makeMp4(brand, 10, tracks)

test.each<[string, MediaType, Buffer, MediaFacts]>([
  ['MP3', 'audio', makeMp3(383), { mime: 'audio/mpeg', seconds: 10 }],
  ['MP3 with a tag', 'audio', withId3(makeMp3(383)), { mime: 'audio/mpeg', seconds: 10 }],
  ['MP3 of variable bit rate', 'audio', makeVariableMp3(383), { mime: 'audio/mpeg', seconds: 10 }],
  ['AAC', 'audio', makeAac(431), { mime: 'audio/aac', seconds: 10 }],
  ['AMR', 'audio', makeAmr(500), { mime: 'audio/amr', seconds: 10 }],
  ['AMR of a minute, in pieces', 'audio', makeAmr(3000), { mime: 'audio/amr', seconds: 60 }],
  ['AMR-WB', 'audio', makeWideAmr(500), { mime: 'audio/amr', seconds: 10 }],
  ['Opus', 'audio', makeVoiceNote(10), { mime: 'audio/ogg; codecs=opus', seconds: 10 }],
  ['M4A', 'audio', mp4('M4A ', sound), { mime: 'audio/x-m4a', seconds: 10 }],
  ['M4A of Android', 'audio', mp4('isom', sound), { mime: 'audio/mp4', extension: 'm4a', seconds: 10 }],
  ['M4A with the brand of a film', 'audio', mp4('mp42', sound), { mime: 'audio/mp4', seconds: 10 }],
  ['3GP of a recorder', 'audio', mp4('3gp4', sound), { mime: 'audio/mp4', seconds: 10 }],
  ['a film as audio', 'audio', mp4('isom', picture, sound), { mime: 'video/mp4' }],
  ['a recording as video', 'video', mp4('isom', sound), { mime: 'audio/mp4' }],
  ['MP4', 'video', mp4('mp42', picture, sound), { mime: 'video/mp4', seconds: 10, width: 640, height: 360 }],
  [
    'MP4 without sound',
    'video',
    mp4('isom', picture),
    { mime: 'video/mp4', seconds: 10, width: 640, height: 360 },
  ],
  ['MP4 held upright', 'video', mp4('isom', upright), { mime: 'video/mp4', width: 360, height: 640 }],
  ['3GP', 'video', mp4('3gp4', picture), { mime: 'video/3gpp', seconds: 10, width: 640, height: 360 }],
  ['M4V', 'video', mp4('M4V ', picture), { mime: 'video/mp4', extension: 'mp4', seconds: 10 }],
])('%s as %s is known by its tracks and frames', async (_, type, bytes, facts) => {
  expect(await inspect(bytes, type)).toMatchObject(facts)
})

/** Where the corner that is stored first is shown, and whether width and height change places. EXIF 2.32, 4.6.4. */
test.each([
  [1, 'top left', false],
  [2, 'top right', false],
  [3, 'bottom right', false],
  [4, 'bottom left', false],
  [5, 'top left', true],
  [6, 'top right', true],
  [7, 'bottom right', true],
  [8, 'bottom left', true],
])(
  'a picture with the orientation %i is measured and previewed as phones show it',
  async (orientation, corner, isTurned) => {
    const mark = { create: { width: 320, height: 160, channels: 3, background: 'white' } } as const
    const stored = sharp({ create: { ...mark.create, width: 640, height: 320, background: 'black' } })
    for (const format of ['jpeg', 'png', 'webp'] as const) {
      const bytes = await stored
        .clone()
        .composite([{ input: mark, left: 0, top: 0 }])
        .withMetadata({ orientation })
        .toFormat(format)
        .toBuffer()
      const facts = await inspect(bytes, 'image')
      expect(facts).toMatchObject(isTurned ? { width: 320, height: 640 } : { width: 640, height: 320 })
      // The inspection allows this process to read pictures from files only.
      const file = join(folder, 'preview')
      writeFileSync(file, Buffer.from(facts?.thumbnail ?? '', 'base64'))
      const preview = await sharp(file).raw().toBuffer({ resolveWithObject: true })
      const { width, height, channels } = preview.info
      expect([format, width, height]).toEqual([format, 32, isTurned ? 64 : 16])
      const shown = ['top', 'bottom'].flatMap((row, y) =>
        ['left', 'right'].flatMap((column, x) => {
          const at = Math.round((y + 0.5) * (height / 2)) * width + Math.round((x + 0.5) * (width / 2))
          return (preview.data[at * channels] ?? 0) > 128 ? [`${row} ${column}`] : []
        }),
      )
      expect(shown).toEqual([corner])
    }
  },
)
