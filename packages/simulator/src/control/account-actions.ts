import { lidJid } from '../network/jid.ts'
import { type Network, phoneOf } from '../network/network.ts'
import { pastContacts, pastMax } from '../network/past.ts'
import type { TypingNote } from '../network/phone.ts'
import { patchFor, type SettingRequest, settingsOf } from '../network/settings.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { changeSettings } from '../stanzas/app-state.ts'
import { checkNumber } from './check-number.ts'

type IdentityRequest = { hidden?: boolean | undefined; username?: string | null | undefined }
type PastRequest = { chats: number; messages: number; seed?: number }

/** What is on the phone of a person, and synchronized to its companions. */
export type AccountActions = {
  /** Gives the person earlier chats, and returns the numbers of the contacts. Companions that are linked later get the history. */
  past: (number: string, request: PastRequest) => { ok: true; contacts: string[] }
  /** The person saves a number under a name (null removes it), mutes or pins its chat. */
  setting: (number: string, request: SettingRequest) => { ok: true }
  /** WhatsApp shows the account only by its LID, or no longer so; and its user name, which null removes. */
  identity: (number: string, request: IdentityRequest) => { ok: true; lid: string }
  /** Who was shown to be typing to the person, the newest 1,000, oldest first. */
  typing: (number: string) => TypingNote[]
}

export function accountActions(network: Network): AccountActions {
  const find = (number: string) => phoneOf(network, checkNumber(number))

  return {
    typing: (number) => find(number).typing,
    identity(number, { hidden, username }) {
      const phone = find(number)
      if (hidden !== undefined) phone.hidesNumber = hidden
      if (username !== undefined) phone.username = username ?? undefined
      return { ok: true, lid: lidJid(phone.number) }
    },
    past(number, { chats, messages, seed = 1 }) {
      checkCount('chats', chats, pastMax.chats)
      checkCount('messages', messages, pastMax.messages)
      checkCount('seed', seed, pastMax.seed)
      const phone = find(number)
      phone.past = { chats, messages, seed, untilSeconds: Math.floor(Date.now() / 1000) }
      const contacts = pastContacts(phone.past)
      for (const contact of contacts) phone.newChats.contacts.add(contact)
      for (const patch of settingsOf(contacts)) changeSettings(network, phone, patch)
      return { ok: true, contacts }
    },
    setting(number, { kind, about, value }) {
      const patch = patchFor({ kind, about: checkNumber(about), value })
      if (!patch) {
        throw new SimulatorError(
          'kind is name (value: a text or null), or mute or pin (value: true or false).',
        )
      }
      changeSettings(network, find(number), patch)
      return { ok: true }
    },
  }
}

function checkCount(name: string, count: number, max: number): void {
  if (!(Number.isInteger(count) && count >= 1 && count <= max)) {
    throw new SimulatorError(`${name} is a whole number from 1 to ${max}.`)
  }
}
