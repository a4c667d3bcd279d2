import { fillIn, type GeneratedRequest } from './generated-requests.ts'
import type { InProcessAnswer, InProcessClient } from './in-process.ts'

const secrets = ['key', 'admin_key', 'expired_key', 'password']

/** Sends a request with the values of an account. Throws unless the response is documented and contains no secret. */
export async function askAndCheck(
  ask: InProcessClient,
  given: GeneratedRequest,
  values: Record<string, string>,
): Promise<InProcessAnswer> {
  const request = fillIn(given, values)
  const answer = await ask(request)
  const { status, headers, text } = answer
  const problems = [...answer.problems]
  if (status >= 500) problems.push(`${status}: ${text}`)
  if (headers.has('x-injected')) problems.push('a header was injected')
  for (const name of secrets) {
    if (text.includes(values[name] ?? ''))
      problems.push(`the answer repeats the ${name}: ${text.slice(0, 300)}`)
  }
  if (problems.length > 0) throw new Error([...problems, JSON.stringify(request).slice(0, 2000)].join('\n'))
  return answer
}
