import { ConfigurationError } from './env.ts'

/**
 * Runs a command of an operator and sets the exit code. What the operator can mend ends it with a sentence and 1; a wrong
 * call shows `usage` and ends it with 2. Other errors are bugs, for which Node prints the stack.
 */
export async function runCommand(usage: string, work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work()
  } catch (error) {
    if (isWrongCall(error)) {
      process.stderr.write(`${error.message}\n\n${usage}\n`)
      process.exitCode = 2
      return
    }
    const sentence = problemOf(error)
    if (!sentence) throw error
    process.stderr.write(`${sentence}\n`)
    process.exitCode = 1
  }
}

/** The configuration of a process that stays. A bad one ends it with what is wrong with each setting, and without a stack. */
export function configurationOrExit<Config>(read: () => Config): Config {
  try {
    return read()
  } catch (error) {
    const sentence = error instanceof ConfigurationError && problemOf(error)
    if (!sentence) throw error
    process.stderr.write(`${sentence}\n`)
    return process.exit(1)
  }
}

const isWrongCall = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

/** What is wrong with the settings, the way to a server, or the answer of Postgres to a log-in. */
function problemOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof ConfigurationError)
    return `${error.message}\nSet it in the environment or in .env. All settings are in .env.example.`
  // Of several addresses of one host.
  if (error instanceof AggregateError) return error.errors.map(problemOf).find(Boolean)
  if ('syscall' in error) return `A server cannot be reached: ${error.message}`
  if ('code' in error && isRefusedLogIn(String(error.code))) return `Postgres refused: ${error.message}`
  return problemOf(error.cause)
}

/** Class 28: authentication. 3D000: no such database. 42P01: no tables yet. 42501: a role without the right. */
const isRefusedLogIn = (code: string) => /^28|^(3D000|42P01|42501)$/.test(code)
