import type { MessageContent } from '@wagate/shared/objects/message-content'
import type { proto } from 'baileys'
import type { Cleaner } from '../cleaner.ts'
import { contextOf } from './find-kind.ts'
import { textCharsMax } from './read-kind.ts'
import type { Unwrapped } from './unwrap.ts'

const mentionsMax = 100

/** What messages of any kind may have besides their content. All of it is what the sender claims. */
export function readFacts({ content, marks }: Unwrapped, cleaner: Cleaner): MessageContent {
  const { audioMessage: audio, videoMessage: video, ptvMessage: note } = content
  const context = contextOf(content)
  const seconds = (audio ?? video ?? note)?.seconds
  const mentioned = context?.mentionedJid ?? []
  return {
    ...(context?.isForwarded && { is_forwarded: true }),
    ...(context?.forwardingScore && { forwarding_score: context.forwardingScore }),
    ...(marks.has('is_view_once') && { is_view_once: true }),
    ...(audio?.ptt && { is_voice: true }),
    ...(video?.gifPlayback && { is_gif: true }),
    ...(note && { is_video_note: true }),
    ...(seconds && { seconds }),
    ...(context?.expiration && { disappears_after_seconds: context.expiration }),
    ...(mentioned.length > 0 && {
      mentions: cleaner.list(mentioned, mentionsMax).map((jid) => cleaner.text(jid, textCharsMax)),
    }),
    ...(context && readAdvertisement(context, cleaner)),
  }
}

function readAdvertisement(
  { externalAdReply: ad, conversionSource, entryPointConversionSource }: proto.IContextInfo,
  cleaner: Cleaner,
): Pick<MessageContent, 'advertisement'> {
  if (!ad) return {}
  return {
    advertisement: {
      title: cleaner.optional(ad.title, textCharsMax),
      text: cleaner.optional(ad.body, textCharsMax),
      url: cleaner.optional(ad.sourceUrl, textCharsMax),
      source_type: cleaner.optional(ad.sourceType, textCharsMax),
      source_id: cleaner.optional(ad.sourceId, textCharsMax),
      click_id: cleaner.optional(ad.ctwaClid, textCharsMax),
      entry_point: cleaner.optional(entryPointConversionSource ?? conversionSource, textCharsMax),
    },
  }
}
