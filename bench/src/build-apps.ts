import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { repository } from '@wagate/devnet/app-process'

/** Compiles API and worker: the loader of TypeScript would take memory, and time of their start. */
export async function buildApps(): Promise<{ compiledIn: string }> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: repository })
  return { compiledIn: repository }
}
