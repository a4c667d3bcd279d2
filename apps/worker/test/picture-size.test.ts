import { describe, expect, it } from 'vitest'
import { findPictureSize } from '../src/outbox/picture-size.ts'

const bytes = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const png = '89504e470d0a1a0a 0000000d 49484452 00004e20 00000064 0806000000'
const app0 = 'ffe0 0004 4a46'
const dht = 'ffc4 0003 00'
const frame = (marker: string) => `ff${marker} 000b 08 0064 4e20 03`

describe('the size of a picture', () => {
  it.each([
    ['a PNG', png],
    ['a JPEG', `ffd8 ${app0} ${frame('c0')}`],
    ['a progressive JPEG', `ffd8 ${app0} ${dht} ${frame('c2')}`],
    ['a JPEG with fill bytes', `ffd8 ffffff${frame('c1')}`],
    ['an extended WebP', '52494646 00000000 57454250 56503858 0a000000 00000000 1f4e00 630000'],
  ])('is read from the header of %s', (_, hex) => {
    expect(findPictureSize(bytes(hex))).toEqual({ width: 20_000, height: 100 })
  })

  it.each([
    ['a lossy WebP', '52494646 00000000 57454250 56503820 00000000 000000 9d012a 6440 c840', 100, 200],
    // 14 bits of width - 1, then 14 bits of height - 1.
    ['a lossless WebP', '52494646 00000000 57454250 5650384c 00000000 2f 63c03100', 100, 200],
  ])('is read from the header of %s', (_, hex, width, height) => {
    expect(findPictureSize(bytes(hex))).toEqual({ width, height })
  })

  it.each([
    ['nothing', ''],
    ['another format', '47494638 39610100 01000000'],
    ['a PNG that ends early', png.slice(0, 40)],
    ['a PNG that begins otherwise', png.replace('49484452', '49444154')],
    ['a JPEG that ends early', `ffd8 ${app0} ffc0 000b`],
    ['a JPEG without a frame', `ffd8 ${app0} 00`],
    ['a JPEG whose segments have no length', `ffd8 ffe0 0000 ffe0`],
    ['a WebP of a kind that is not known', '52494646 00000000 57454250 41424344 00000000'],
  ])('is not known of %s', (_, hex) => {
    expect(findPictureSize(bytes(hex))).toBeUndefined()
  })
})
