import type { Mutant } from './mutant.ts'

const decryption = 'apps/worker/test/decrypt-media.test.ts'
const uploads = 'apps/worker/test/whatsapp-upload.test.ts'

/** The files of messages. */
export const mediaMutants: Mutant[] = [
  {
    name: 'type of a file against its bytes',
    file: 'packages/shared/src/file-evidence.ts',
    text: 'said.filter(({ mime }) => fits(mime, signs))',
    replacement: 'said',
    test: {
      file: 'apps/worker/test/sent-documents.test.ts',
      title: "bmp of which is said { filename: 'scan.csv' } is sent as image/bmp, scan.csv.bmp",
      written: { title: '%s of which is said %o is sent as %s, %s' },
    },
  },
  {
    name: 'signature of letters in a text',
    file: 'packages/shared/src/file-signs.ts',
    text: 'if (found && (text === undefined || isTextual(found.mime, text)))',
    replacement: 'if (found)',
    test: {
      file: 'apps/worker/test/sent-documents.test.ts',
      title: "csvOfBmi of which is said { filename: 'health.csv' } is sent as text/csv, health.csv",
      written: { title: '%s of which is said %o is sent as %s, %s' },
    },
  },
  {
    name: 'recording taken for a film by its brand',
    file: 'apps/worker/src/media/inspection/inspect-tracks.ts',
    text: "if (!video) return { mime: 'audio/mp4', extension: 'm4a', seconds }",
    replacement: 'if (!video) return { seconds }',
    test: {
      file: 'apps/worker/test/media-facts.test.ts',
      title: 'M4A of Android as audio is known by its tracks and frames',
      written: { title: '%s as %s is known by its tracks and frames' },
    },
  },
  {
    name: 'preview of a picture on its side',
    file: 'apps/worker/src/media/inspection/inspect-file.ts',
    text: '.autoOrient()',
    replacement: '',
    test: {
      file: 'apps/worker/test/media-facts.test.ts',
      title: 'a picture with the orientation 6 is measured and previewed as phones show it',
      written: { title: 'a picture with the orientation %i is measured and previewed as phones show it' },
    },
  },
  {
    name: 'caption of an audio file accepted and lost',
    file: 'apps/api/src/operations/send-media.ts',
    text: 'if (caption === undefined || kindOf(type).hasCaption) return',
    replacement: 'return',
    test: {
      file: 'apps/api/test/media-parameters.test.ts',
      title: "'audio' with 'caption' shows all of it, or says what it cannot show",
      written: { title: '$type with $parts shows all of it, or says what it cannot show' },
    },
  },
  {
    name: 'a slow store loses the lock of a content',
    file: 'packages/db/src/queries/media/media-content.ts',
    text: "idle_in_transaction_session_timeout = '60s'",
    replacement: "idle_in_transaction_session_timeout = '2s'",
    test: {
      file: 'apps/worker/test/media-retention.test.ts',
      title: 'no content is stored while a slow store removes it',
    },
  },
  {
    name: 'the quota of files without the lock of its account',
    file: 'packages/db/src/queries/media/received-media.ts',
    text: 'await sql`SELECT pg_advisory_xact_lock(${advisoryLocks.mediaOfAccount}, ${media.accountId})`',
    replacement: '',
    test: {
      file: 'packages/db/test/received-media.test.ts',
      title: 'files that are stored at the same time do not exceed the quota of their account together',
    },
  },
  {
    name: 'a file removed that is stored for another message',
    file: 'packages/db/src/queries/media/received-media.ts',
    text: 'if (!(await isStored(sql, media))) await',
    replacement: 'await',
    test: {
      file: 'packages/db/test/received-media.test.ts',
      title: 'a file for which there is no room stays in the store if it is stored for a message',
    },
  },
  {
    name: 'received file without its HMAC',
    file: 'apps/worker/src/received-media/download-media.ts',
    text: 'tail.length !== macBytes || !timingSafeEqual(mac, tail)',
    replacement: 'tail.length !== macBytes',
    test: { file: decryption, title: 'refuses a file whose HMAC was changed' },
  },
  {
    name: 'received file from another host',
    file: 'apps/worker/src/session/receiving/media-descriptor.ts',
    text: 'return isWhatsAppUrl(parsed) ? parsed.pathname',
    replacement: 'return parsed ? parsed.pathname',
    test: {
      file: 'apps/worker/test/media-descriptor.test.ts',
      title: 'has no source for the path :9443/x',
      written: { title: 'has no source for the path %s' },
    },
  },
  {
    name: 'received file of another account',
    file: 'packages/db/src/queries/media/media-content.ts',
    text: 'WHERE account_id = ${accountId} AND message_id = ${messageId}',
    replacement: 'WHERE message_id = ${messageId}',
    test: {
      file: 'packages/db/test/received-media.test.ts',
      title: 'a message and its file are stored together, once',
    },
  },
  {
    name: 'file refused because its inspection got no CPU time',
    file: 'apps/worker/src/media/inspection/inspector.ts',
    text: "if (facts === 'timed_out') throw new InspectionTimeout(",
    replacement: "if (facts === 'timed_out') throw new MediaError('invalid_media', ",
    test: {
      file: 'apps/worker/test/inspector.test.ts',
      title: 'that take too long are not refused, because the machine may be busy',
    },
  },
  {
    name: 'upload without a deadline',
    file: 'apps/worker/src/session/network/whatsapp-upload.ts',
    text: 'return await bound(uploadToAny(), () => undefined)',
    replacement: 'return await uploadToAny()',
    test: { file: uploads, title: 'with an error when WhatsApp does not say where to' },
  },
  {
    name: 'upload that asks the next host with what the first one refused',
    file: 'apps/worker/src/session/network/whatsapp-upload.ts',
    text: 'if (error instanceof UploadRefused) auth = (await refreshMediaConn(true)).auth',
    replacement: '',
    test: {
      file: uploads,
      title: 'a host that refuses is followed by the next one, with what WhatsApp names anew',
    },
  },
  {
    name: 'upload to a host that a redirect names',
    file: 'apps/worker/src/session/network/whatsapp-route.ts',
    text: 'admit: ({ host }) => admitIf(host === simulatedHost)',
    replacement: 'admit: () => undefined',
    test: {
      file: uploads,
      title: 'a redirect to another host is not followed',
    },
  },
  {
    name: 'link to a file that never expires',
    file: 'packages/shared/src/media-links.ts',
    text: 'Number(query.expires) * 1000 > nowMs ? media : undefined',
    replacement: 'media',
    test: {
      file: 'packages/shared/test/media-links.test.ts',
      title: 'a link expires after at most two hours',
    },
  },
]
