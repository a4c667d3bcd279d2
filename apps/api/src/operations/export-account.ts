import { z } from 'zod'
import { defineLines } from '../calls/operation.ts'
import { exportPages } from '../export/account-lines.ts'
import { makeExportStream } from '../export/export-stream.ts'
import { rateLimited } from '../limits/rate-limited.ts'
import { exampleUser } from '../objects/user-object.ts'

const retrySeconds = 10

export const exportAccount = defineLines({
  name: 'export-account',
  summary:
    'Return everything that the account has, as JSON objects, one a line (NDJSON). The last line has the type `end` and counts the others: without it, the export is not complete',
  methods: ['GET', 'POST'],
  parameters: z.object({}),
  fields: z.looseObject({
    type: z
      .string()
      .describe(
        '`account`, `key`, `device`, `webhook`, `webhook_attempt`, `contact` (`number`, `lid`, `username`, `seen_on`), `opt_out`, `message` (with its `timeline`), `event`, `upload`, `file`, `missing_file` or `end`. The other fields are those of the operation that returns such objects',
      ),
    sha256: z
      .string()
      .optional()
      .describe('Of a `file`: SHA-256 of the whole file, as in messages and uploads'),
    part: z.int().optional().describe('Of a `file`, from 1. Its parts follow one another'),
    parts: z.int().optional().describe('Of a `file`: their number'),
    data: z.string().optional().describe('Of a `file`: this part in base64'),
    counts: z.record(z.string(), z.int()).optional().describe('Of `end`: the number of lines of each type'),
  }),
  errors: ['rate_limited'],
  example: { given: {}, answer: { type: 'account', ...exampleUser } },
  async prepare(_, { context, principal: { accountId } }) {
    const { exports, closing, log } = context
    return (connection) => {
      const release = exports.tryAcquire(String(accountId), 1)
      if (!release) {
        const sentence =
          'Another export of the account is in progress, or too many of others. Try again later.'
        throw rateLimited('account-exports', sentence, retrySeconds)
      }
      return makeExportStream({
        pages: (signal) => exportPages(context, accountId, signal),
        ...connection,
        closing,
        onEnd: release,
        onError: (err) => log.warn({ err, accountId }, 'An export was broken off'),
      })
    }
  },
})
