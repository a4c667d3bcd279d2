import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Phone } from './phone.ts'
import {
  decodePhone,
  decodeSessions,
  encodePhone,
  encodeSessions,
  type StoredPhone,
} from './phone-encoding.ts'

const flushEveryMs = 500
const phoneSuffix = '.phone.json'
const sessionsSuffix = '.sessions.json'

/** Keeps the network between starts. */
export type State = {
  rootSeed: Buffer
  loadPhones: () => Phone[]
  /** Writes identity, devices and their keys. They are on disk when this returns, because clients rely on the response. */
  save: (phone: Phone) => void
  /** Writes the same within half a second. A crash may lose the change. */
  keysChanged: (phone: Phone) => void
  /** The same for the handset's Signal sessions. */
  sessionsChanged: (phone: Phone) => void
  close: () => void
}

export function memoryState(): State {
  return {
    rootSeed: randomBytes(32),
    loadPhones: () => [],
    save: () => {},
    keysChanged: () => {},
    sessionsChanged: () => {},
    close: () => {},
  }
}

/** Two small files per phone, so that the cost of a change does not grow with the network. */
export function directoryState(directory: string): State {
  const phonesDirectory = join(directory, 'phones')
  mkdirSync(phonesDirectory, { recursive: true })
  const staleKeys = new Set<Phone>()
  const staleSessions = new Set<Phone>()

  function save(phone: Phone): void {
    staleKeys.delete(phone)
    writeAtomically(join(phonesDirectory, `${phone.number}${phoneSuffix}`), encodePhone(phone))
  }

  function flush(): void {
    for (const phone of staleKeys) save(phone)
    for (const phone of staleSessions) {
      writeAtomically(join(phonesDirectory, `${phone.number}${sessionsSuffix}`), encodeSessions(phone))
    }
    staleSessions.clear()
  }

  const timer = setInterval(flush, flushEveryMs)
  timer.unref()

  return {
    rootSeed: loadRootSeed(directory),
    loadPhones: () => loadPhones(phonesDirectory),
    save,
    keysChanged: (phone) => staleKeys.add(phone),
    sessionsChanged: (phone) => staleSessions.add(phone),
    close: () => {
      clearInterval(timer)
      flush()
    },
  }
}

function loadRootSeed(directory: string): Buffer {
  const path = join(directory, 'root-key.json')
  const stored = readJson(path) as { seed: string } | undefined
  if (stored) return Buffer.from(stored.seed, 'base64')
  const seed = randomBytes(32)
  writeAtomically(path, { seed: seed.toString('base64') })
  return seed
}

function loadPhones(directory: string): Phone[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(phoneSuffix))
  return names.flatMap((name) => {
    const stored = readJson(join(directory, name)) as StoredPhone | undefined
    if (!stored) return []
    const phone = decodePhone(stored)
    decodeSessions(phone, readJson(join(directory, `${phone.number}${sessionsSuffix}`)))
    return [phone]
  })
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function writeAtomically(path: string, value: unknown): void {
  const temporary = `${path}.tmp`
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 })
  renameSync(temporary, path)
}
