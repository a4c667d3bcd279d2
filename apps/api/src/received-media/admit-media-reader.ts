import type { LinkedMedia } from '@wagate/shared/media-links'
import { z } from 'zod'
import type { ApiContext } from '../context.ts'
import { admitCaller } from '../credentials/admit-caller.ts'
import { findKeyOutsideBody, getKey } from '../credentials/find-key.ts'
import { AppError } from '../errors/app-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import { charge } from '../limits/charge.ts'
import { collectParameters } from '../parameters/collect-parameters.ts'
import { messageId } from '../parameters/parameter-types.ts'
import { makeParameterParser } from '../parameters/parse-parameters.ts'

export const mediaParameters = z.object({
  id: messageId.describe('ID of the received message'),
  expires: z.string().optional().describe('From a link, instead of an API key'),
  signature: z.string().optional().describe('From a link, instead of an API key'),
})

const parse = makeParameterParser(mediaParameters)

/** Whose file the caller may read: with an API key any of its account, with a signed link the one it leads to. */
export async function admitMediaReader(context: ApiContext, request: RequestContext): Promise<LinkedMedia> {
  const { config, limits, mediaLinks } = context
  const { raw, url, deadline, responseHeaders } = request
  const { id, expires = '', signature } = parse(collectParameters(url.searchParams, []))
  if (signature === undefined) {
    const outside = findKeyOutsideBody(raw, url, { allowQuery: config.http.allowsQueryApiKey })
    const { accountId } = await admitCaller(context, { changes: false }, request, getKey(outside, []))
    return { accountId, messageId: id }
  }
  const linked = await deadline.run(() => mediaLinks.open({ id, expires, signature }))
  if (!linked) {
    throw new AppError(
      'media_link_invalid',
      'The link is not valid or has expired. Read the message again for a new one.',
    )
  }
  const { accountId } = linked
  const charges = [
    { limiter: limits.mediaLinkRequests, key: `${accountId}:${linked.messageId}` },
    { limiter: limits.accountLinkRequests, key: String(accountId) },
  ]
  await deadline.run(() => charge(charges, responseHeaders))
  return linked
}
