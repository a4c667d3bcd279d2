import { z } from 'zod'

/**
 * Reads the variables of `shape` from an environment. Empty strings count as absent.
 * Throws one ConfigurationError that names every bad variable, never its value (it may be a secret).
 */
export function readEnv<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Record<string, string | undefined>,
): z.infer<z.ZodObject<Shape>> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const result = z.object(shape).safeParse(given)
  if (result.success) return result.data
  throw unusable(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
}

/** Throws one ConfigurationError that names all problems, if there are any: what is wrong with several variables together. */
export function refuseProblems(problems: string[]): void {
  if (problems.length > 0) throw unusable(problems)
}

/** What an operator has to mend. Its message never contains a value. */
export class ConfigurationError extends Error {}

function unusable(problems: string[]): ConfigurationError {
  return new ConfigurationError(
    `The configuration is not usable:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  )
}
