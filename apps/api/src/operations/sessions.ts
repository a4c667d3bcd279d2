import { listSessions } from '@wagate/db/queries/accounts/sessions'
import { z } from 'zod'
import { defineOperation } from '../calls/operation.ts'

export const sessions = defineOperation({
  name: 'sessions',
  summary: 'List the open sessions of the account: browsers in which a person has signed in',
  methods: ['GET', 'POST'],
  changes: false,
  parameters: z.object({}),
  fields: z.object({
    sessions: z.array(
      z.object({
        session_id: z.int(),
        is_current: z.boolean().describe('The session of this request'),
        user_agent: z.string().nullable().describe('As the browser described itself'),
        network: z.string().describe('Address of the client at sign-in; of IPv6 the network'),
        created_at: z.iso.datetime(),
        last_used_at: z.iso.datetime().nullable(),
        expires_at: z.iso.datetime().nullable(),
      }),
    ),
  }),
  example: {
    given: {},
    answer: {
      sessions: [
        {
          session_id: 41,
          is_current: true,
          user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0',
          network: '203.0.113.7',
          created_at: '2026-11-29T09:30:00.000Z',
          last_used_at: '2026-11-29T10:02:00.000Z',
          expires_at: '2026-12-13T09:30:00.000Z',
        },
      ],
    },
  },
  async handle(_, { context, principal }) {
    const open = await listSessions(context.db, principal.accountId)
    return {
      sessions: open.map((session) => ({
        session_id: session.id,
        is_current: session.id === principal.keyId,
        user_agent: session.userAgent,
        network: session.network,
        created_at: session.createdAt.toISOString(),
        last_used_at: session.lastUsedAt?.toISOString() ?? null,
        expires_at: session.expiresAt?.toISOString() ?? null,
      })),
    }
  },
})
