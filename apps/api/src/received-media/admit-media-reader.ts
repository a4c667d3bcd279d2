import type { LinkedMedia } from '@wagate/shared/media-links'
import { z } from 'zod'
import { type Admission, admitCaller } from '../credentials/admit-caller.ts'
import { findKeyOutsideBody, getKey } from '../credentials/find-key.ts'
import { AppError } from '../errors/app-error.ts'
import type { RequestContext } from '../http/request-context.ts'
import { charge } from '../limits/charge.ts'
import { collectParameters } from '../parameters/collect-parameters.ts'
import { messageId } from '../parameters/parameter-types.ts'
import { makeParameterParser } from '../parameters/parse-parameters.ts'
import type { MediaLinks } from './media-links.ts'

export const mediaParameters = z.object({
  id: messageId.describe('ID of the received message'),
  expires: z.string().optional().describe('From a link, instead of an API key'),
  signature: z.string().optional().describe('From a link, instead of an API key'),
})

const parse = makeParameterParser(mediaParameters)

/** Whose file the caller may read: with an API key any of its account, with a signed link the one it leads to. */
export async function admitMediaReader(
  admission: Pick<Admission, 'keys' | 'limits' | 'allowsQuery'>,
  links: Pick<MediaLinks, 'open'>,
  request: RequestContext,
): Promise<LinkedMedia> {
  const { limits, allowsQuery } = admission
  const { raw, url, deadline, responseHeaders } = request
  const { id, expires = '', signature } = parse(collectParameters(url.searchParams, []))
  if (signature === undefined) {
    const outside = findKeyOutsideBody(raw, url, { allowQuery: allowsQuery })
    const { accountId } = await admitCaller(
      admission,
      { changes: false },
      request,
      getKey(outside, [], request.raw.headers.get('authorization')),
    )
    return { accountId, messageId: id }
  }
  const linked = await deadline.run(() => links.open({ id, expires, signature }))
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
