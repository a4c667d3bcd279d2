import type { SignalFormat } from '@wagate/db/queries/credentials/signal-format'
import { BufferJSON, proto } from 'baileys'
import { decodeSession, encodeSession, isEncodedBy, type SessionRecord } from './session-record.ts'
import { authContext, isInParts, type Parts, type SealedFrame, type Vault } from './vault.ts'

/** `frame`: of a session in parts, for the next time it is sealed. */
type Sealed = { sealed: Buffer; frame?: SealedFrame | undefined }
type Opened = { value: unknown; frame?: SealedFrame | undefined }

/** A session goes in parts if the format allows it: the statement that stores it logs only what has changed. */
export function sealAuthValue(
  { vault, format }: { vault: Vault; format: SignalFormat },
  { type, id, value }: { type: string; id: string; value: unknown },
  known?: SealedFrame,
): Sealed {
  const context = authContext(type, id)
  const parts = type === 'session' && format === 2 ? sessionParts(value as SessionRecord, known) : undefined
  return parts ? vault.sealParts(parts, context, known) : { sealed: vault.seal(encode(value), context) }
}

export function openAuthValue(vault: Vault, type: string, id: string, sealed: Buffer): Opened {
  const context = authContext(type, id)
  if (isInParts(sealed)) {
    const { known, ...parts } = vault.openParts(sealed, context)
    return { value: decodeSession(parts), frame: known }
  }
  const value = decode(vault.open(sealed, context))
  return {
    value: type === 'app-state-sync-key' ? proto.Message.AppStateSyncKeyData.fromObject(value) : value,
  }
}

/**
 * Undefined for a record that its encoding would change: another version of libsignal may store more. One check for each
 * frame is enough, because the version does not change while the process runs.
 */
function sessionParts(record: SessionRecord, known: SealedFrame | undefined): Parts | undefined {
  try {
    const parts = encodeSession(record)
    return known?.plain === parts.frame.toString('latin1') || isEncodedBy(parts, record) ? parts : undefined
  } catch {
    return undefined
  }
}

function encode(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value, BufferJSON.replacer))
}

function decode(bytes: Buffer) {
  return JSON.parse(bytes.toString(), BufferJSON.reviver)
}
