import type { Database } from '@wagate/db/client'
import { type Contact, findContact } from '@wagate/db/queries/contacts/known-contacts'
import { lidKey } from '@wagate/shared/contact-key'
import { invalidParameter } from '../errors/invalid-parameter.ts'

/** How requests name a contact. */
export type GivenContact = { number?: string | undefined; lid?: string | undefined }

/** Throws `invalid_parameter` if a contact is named twice. */
export function refuseBoth({ number, lid }: GivenContact): void {
  if (number !== undefined && lid !== undefined) throw invalidParameter('lid', 'cannot be given with number')
}

/** The key under which a request names its contact. */
export function namedKey({ number, lid }: GivenContact): string {
  refuseBoth({ number, lid })
  const key = lid === undefined ? number : lidKey(lid)
  if (key === undefined) throw new Error('The operation takes requests without a contact')
  return key
}

/** The contact that a request names by number or LID, as far as the account knows it. */
export function getContact(db: Database, accountId: number, given: GivenContact): Promise<Contact> {
  return findContact(db, accountId, namedKey(given))
}
