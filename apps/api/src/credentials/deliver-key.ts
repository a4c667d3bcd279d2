import { writeFile } from 'node:fs/promises'

/**
 * Gives the key of the first ADMIN to the operator: in a file that only this user may read, or on a terminal.
 * Anywhere else, standard output is a log.
 */
export async function handKey(apiKey: string, file: string | undefined): Promise<void> {
  if (file !== undefined) {
    await writeFile(file, `${apiKey}\n`, { mode: 0o600, flag: 'wx' })
  } else if (process.stdout.isTTY) {
    process.stdout.write(`API key of the first ADMIN, shown only now: ${apiKey}\n`)
  } else {
    throw new Error(
      'BOOTSTRAP_ADMIN_EMAIL needs BOOTSTRAP_KEY_FILE, a path for the API key that does not exist yet',
    )
  }
}
