import { call, read } from '../shared/gateway.js'

/** Signs in and opens the account. Never resolves when it succeeds, because the page is being left. */
export async function openAccount(credentials) {
  await call('sign-in', credentials)
  await leaveFor('/account')
}

/** Calls an operation of the account. A person who is not signed in any more gets to the page for that. */
export const callSigned = (operation, fields) => signed(call(operation, fields))
export const readSigned = (operation, query) => signed(read(operation, query))

/** Without an entry in the history, so that "back" does not lead to a page that leads here again. */
export function leaveFor(path) {
  location.replace(path)
  return new Promise(() => undefined)
}

export async function signed(answer) {
  try {
    return await answer
  } catch (error) {
    if (error.status === 401) await leaveFor('/sign-in')
    throw error
  }
}
