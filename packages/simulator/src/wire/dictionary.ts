import {
  type BinaryNodeCodingOptions,
  decodeBinaryNode,
  decodeDecompressedBinaryNode,
  decompressingIfRequired,
  encodeBinaryNode,
} from 'baileys'
import { TAGS } from 'baileys/lib/WABinary/constants.js'
import { dictionary2Words } from './dictionary-2-words.ts'
import type { Node } from './node.ts'

/** How stanzas become bytes. WhatsApp shortens frequent words, and clients name the version of the list they have. */
export type Dictionary = {
  encode: (node: Node) => Buffer
  decode: (bytes: Buffer) => Promise<Node>
}

const wordsPerPage = 256
const singleByteWords = 236

/** Undefined for a version that no Baileys since 6.7 has used. */
export function dictionaryOf(version: number | undefined): Dictionary | undefined {
  if (version === 3) return { encode: (node) => encodeBinaryNode(node), decode: decodeBinaryNode }
  return version === 2 ? dictionary2() : undefined
}

let loaded: Dictionary | undefined

function dictionary2(): Dictionary {
  loaded ??= dictionaryFrom(['', ...dictionary2Words.trim().split(/\s+/)])
  return loaded
}

function dictionaryFrom(words: string[]): Dictionary {
  const SINGLE_BYTE_TOKENS = words.slice(0, singleByteWords)
  const DOUBLE_BYTE_TOKENS: string[][] = []
  const TOKEN_MAP: BinaryNodeCodingOptions['TOKEN_MAP'] = {}
  for (const [index, word] of SINGLE_BYTE_TOKENS.entries()) TOKEN_MAP[word] = { index }
  for (let start = singleByteWords; start < words.length; start += wordsPerPage) {
    const page = words.slice(start, start + wordsPerPage)
    for (const [index, word] of page.entries()) TOKEN_MAP[word] = { dict: DOUBLE_BYTE_TOKENS.length, index }
    DOUBLE_BYTE_TOKENS.push(page)
  }
  // Baileys declares the words of its own dictionary as the only ones.
  const options = {
    TAGS,
    SINGLE_BYTE_TOKENS,
    DOUBLE_BYTE_TOKENS,
    TOKEN_MAP,
  } as unknown as BinaryNodeCodingOptions
  return {
    encode: (node) => encodeBinaryNode(node, options),
    decode: async (bytes) => decodeDecompressedBinaryNode(await decompressingIfRequired(bytes), options),
  }
}
