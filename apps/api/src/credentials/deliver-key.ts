import { writeFile } from 'node:fs/promises'

/**
 * Gives the operator the key of the first ADMIN: in a file that only this user may read, or on a terminal. Standard
 * output that is not a terminal is likely to be logged.
 */
export async function deliverKey(apiKey: string, file: string | undefined): Promise<void> {
  if (file !== undefined) {
    await writeFile(file, `${apiKey}\n`, { mode: 0o600, flag: 'wx' })
  } else if (process.stdout.isTTY) {
    process.stdout.write(`API key of the first ADMIN, not shown again: ${apiKey}\n`)
  } else {
    throw new Error(
      'BOOTSTRAP_ADMIN_EMAIL requires BOOTSTRAP_KEY_FILE: the path of a new file for the API key',
    )
  }
}
