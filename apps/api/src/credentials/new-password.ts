import { invalidParameter } from '../errors/invalid-parameter.ts'

let commonPasswords: Promise<Set<string>> | undefined

/** The 18,000 most used ones of at least 8 characters. Loading them takes 0.15 s, so it is done once, at the first use. */
export function loadCommonPasswords(): Promise<Set<string>> {
  commonPasswords ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const listed = dictionary['passwords-common'] as string[]
    return new Set(listed.filter(({ length }) => length >= 8))
  })
  return commonPasswords
}

/** Refuses what others try first. Throws `invalid_parameter`. */
export async function refuseGuessable(password: string, email: string): Promise<void> {
  const typed = password.toLowerCase()
  const problem = (await loadCommonPasswords()).has(typed)
    ? 'is one of the most used passwords: choose another one'
    : namesIn(email).includes(typed)
      ? 'must not be your email address, or a part of it'
      : undefined
  if (problem === undefined) return
  throw invalidParameter('password', problem)
}

const namesIn = (email: string): string[] => [email, ...email.split('@')]
