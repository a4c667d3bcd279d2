import type { AuthStore } from './auth-store.ts'

const type = 'account-salt'
const id = '-'

/** The secret of an account with which its clients prove first messages to a contact (cold-tokens.ts). */
export type AccountSalt = {
  find(): Promise<Uint8Array | undefined>
  /** From the app state, which always has the present one. Undefined removes it. */
  set(salt: Uint8Array | undefined): Promise<void>
  /** From a history, which may be an old one. */
  setFirst(salt: Uint8Array | undefined): Promise<void>
}

export function makeAccountSalt({ readOwn, writeOwn }: Pick<AuthStore, 'readOwn' | 'writeOwn'>): AccountSalt {
  const find = async () => {
    const salt = (await readOwn(type, [id])).get(id)
    return salt instanceof Uint8Array ? salt : undefined
  }
  const write = (salt: Uint8Array | undefined) =>
    writeOwn(type, new Map([[id, salt ? Buffer.from(salt) : null]]))
  let isFromState = false

  return {
    find,
    set(salt) {
      isFromState = true
      return write(salt)
    },
    async setFirst(salt) {
      if (salt && !(await find()) && !isFromState) await write(salt)
    },
  }
}
