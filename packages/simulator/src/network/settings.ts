import { proto } from 'baileys'
import type { AppStatePatch, Setting } from './app-state.ts'
import { lidJid, pnJid } from './jid.ts'
import { pastName } from './past.ts'

const { SyncActionValue } = proto
const secondsForever = -1

/** The name under which the person saved a number, or none. */
function nameSetting(number: string, name: string | null): Setting {
  const value =
    name === null
      ? null
      : encode({
          contactAction: { fullName: name, firstName: name.split(' ')[0] ?? name, lidJid: lidJid(number) },
        })
  return { index: ['contact', pnJid(number)], value }
}

function muteSetting(number: string, muted: boolean): Setting {
  const value = encode({ muteAction: { muted, ...(muted && { muteEndTimestamp: secondsForever }) } })
  return { index: ['mute', lidJid(number)], value }
}

function pinSetting(number: string, pinned: boolean): Setting {
  return { index: ['pin_v1', lidJid(number)], value: encode({ pinAction: { pinned } }) }
}

export type SettingRequest = { kind: string; about: string; value: string | boolean | null }

/** A change that a person makes. Undefined if there is no such setting, or no such value of it. */
export function patchFor({ kind, about, value }: SettingRequest): AppStatePatch | undefined {
  if (kind === 'name' && typeof value !== 'boolean') {
    return { collection: 'critical_unblock_low', settings: [nameSetting(about, value)] }
  }
  if (typeof value !== 'boolean') return undefined
  if (kind === 'mute') return { collection: 'regular_high', settings: [muteSetting(about, value)] }
  if (kind === 'pin') return { collection: 'regular_low', settings: [pinSetting(about, value)] }
  return undefined
}

/** A person with these contacts has saved all of them, muted every tenth chat and pinned three. */
export function settingsOf(contacts: string[]): AppStatePatch[] {
  const names = contacts.map((number, index) => nameSetting(number, pastName(index)))
  const muted = contacts.filter((_, index) => index % 10 === 9).map((number) => muteSetting(number, true))
  const pinned = contacts.slice(0, 3).map((number) => pinSetting(number, true))
  const patches: AppStatePatch[] = [
    { collection: 'critical_unblock_low', settings: names },
    { collection: 'regular_high', settings: muted },
    { collection: 'regular_low', settings: pinned },
  ]
  return patches.filter(({ settings }) => settings.length > 0)
}

function encode(action: proto.ISyncActionValue): Buffer {
  return Buffer.from(SyncActionValue.encode({ timestamp: Date.now(), ...action }).finish())
}
