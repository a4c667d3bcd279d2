import { violations } from '@wagate/test-kit/contract'
import type { Gateway } from '@wagate/test-kit/load/pooled-client'

/** Every answer is compared with what the API's document says of its operation. */
export function checkAnswers(gateway: Gateway): {
  gateway: Gateway
  takeUndocumentedAnswers(): string[]
} {
  let found: string[] = []
  return {
    gateway: {
      ...gateway,
      async call(operation, fields) {
        const answer = await gateway.call(operation, fields)
        const { status, text } = answer
        const headers = new Headers(
          Object.entries(answer.headers).flatMap(([name, value]) =>
            [value ?? []].flat().map((one) => [name, one] as [string, string]),
          ),
        )
        found.push(...violations('POST', `/${operation}`, { status, headers, text }))
        return answer
      },
    },
    takeUndocumentedAnswers() {
      const taken = found
      found = []
      return taken
    },
  }
}
