import {
  type Guidance,
  messageErrorGuide,
  requestErrorGuide,
  statusReasonGuide,
} from '../errors/error-catalogue.ts'
import { type RequestErrorCode, requestErrorStatus } from '../errors/request-errors.ts'
import { table } from './markdown-table.ts'

/** docs/errors.md: every code that the gateway answers with or stores, and what to do. */
export function makeErrorPage(): string {
  return [
    '<!-- Made by "npm run api-docs" out of apps/api/src/errors/error-catalogue.ts. -->',
    '# Error codes',
    'Codes are for programs and do not change. More may be added: treat an unknown code of a request by its HTTP status, and an unknown code of a message as final.',
    '## Requests',
    'The `code` of an answer with `ok: false`.',
    table(
      ['Code', 'Status', 'Meaning', 'What to do', 'Retry'],
      Object.entries(requestErrorGuide)
        .map(([code, guide]) => ({ code, status: requestErrorStatus[code as RequestErrorCode], guide }))
        .sort((one, other) => one.status - other.status)
        .map(({ code, status, guide }) => [`\`${code}\``, String(status), ...cellsOf(guide)]),
    ),
    '## Messages',
    'The `error_code` of a message whose status is `failed`. The gateway has stopped trying; *Retry* says whether a new message may succeed later without a change.',
    table(['Code', 'Meaning', 'What to do', 'Retry'], rowsOf(messageErrorGuide)),
    '## Devices',
    'The `status_reason` of a device that is not connected. *Retry* says whether the gateway comes back by itself.',
    table(['Reason', 'Meaning', 'What to do', 'Retry'], rowsOf(statusReasonGuide)),
  ]
    .join('\n\n')
    .concat('\n')
}

function rowsOf(guides: Record<string, Guidance>): string[][] {
  return Object.entries(guides).map(([code, guide]) => [`\`${code}\``, ...cellsOf(guide)])
}

function cellsOf({ meaning, action, isTemporary }: Guidance): string[] {
  return [meaning, action, isTemporary ? 'yes' : 'no']
}
