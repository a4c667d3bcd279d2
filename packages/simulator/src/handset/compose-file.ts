import { readFile } from 'node:fs/promises'
import type { proto } from 'baileys'
import type { Network } from '../network/network.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { type SealedFile, sealFile } from './seal-file.ts'

/** With a name, it is sent as a document. */
type WrittenFile = { body: Buffer; mime: string; filename?: string }

/**
 * `as`: what the person sends the file as. Without a file, a small one of the simulator is sent.
 * `view_once`: companions are only told of it, as WhatsApp does today, or with `readable` sent it as well.
 */
export type WrittenWithFile = { text?: string; view_once?: boolean | 'readable' } & (
  | { file: WrittenFile; as?: FileForm }
  | { file?: WrittenFile; as: FileForm }
)

type FileForm = keyof typeof forms

type Field =
  | 'imageMessage'
  | 'videoMessage'
  | 'ptvMessage'
  | 'audioMessage'
  | 'stickerMessage'
  | 'documentMessage'

type Facts = { seconds?: number; width?: number; height?: number; fileName?: string; isAnimated?: boolean }

type Form = {
  field: Field
  /** Of the key to the file. */
  sealedAs: 'image' | 'video' | 'audio' | 'document'
  /** As the stanza names it. */
  mediaType: string
  /** By which clients know the form. */
  marks?: { gifPlayback?: boolean; ptt?: boolean }
  hasCaption?: boolean
  canBeViewOnce?: boolean
  /** A file in `samples`, and what its sender says of it. */
  sample: { name: string; mime: string; facts?: Facts }
}

const clip: Form['sample'] = {
  name: 'clip.mp4',
  mime: 'video/mp4',
  facts: { seconds: 2, width: 64, height: 48 },
}
const spoken: Form['sample'] = {
  name: 'spoken.mp4',
  mime: 'video/mp4',
  facts: { seconds: 2, width: 64, height: 64 },
}
const voice: Form['sample'] = { name: 'voice.ogg', mime: 'audio/ogg; codecs=opus', facts: { seconds: 2 } }

const picture = {
  field: 'imageMessage',
  sealedAs: 'image',
  mediaType: 'image',
  hasCaption: true,
  canBeViewOnce: true,
  sample: { name: 'picture.jpg', mime: 'image/jpeg', facts: { width: 64, height: 48 } },
} satisfies Form
const video = {
  field: 'videoMessage',
  sealedAs: 'video',
  mediaType: 'video',
  hasCaption: true,
  canBeViewOnce: true,
  sample: spoken,
} satisfies Form
const audio = { field: 'audioMessage', sealedAs: 'audio', mediaType: 'audio', sample: voice } satisfies Form
const sticker = {
  field: 'stickerMessage',
  sealedAs: 'image',
  mediaType: 'sticker',
  sample: { name: 'sticker.webp', mime: 'image/webp', facts: { width: 64, height: 64 } },
} satisfies Form

const forms = {
  picture,
  video,
  gif: {
    ...video,
    mediaType: 'gif',
    marks: { gifPlayback: true },
    canBeViewOnce: false,
    sample: clip,
  },
  video_note: { field: 'ptvMessage', sealedAs: 'video', mediaType: 'ptv', sample: spoken },
  audio,
  voice_note: { ...audio, mediaType: 'ptt', marks: { ptt: true }, canBeViewOnce: true },
  sticker,
  animated_sticker: {
    ...sticker,
    sample: {
      name: 'animated.webp',
      mime: 'image/webp',
      facts: { width: 64, height: 64, isAnimated: true },
    },
  },
  document: {
    field: 'documentMessage',
    sealedAs: 'document',
    mediaType: 'document',
    hasCaption: true,
    sample: { name: 'page.pdf', mime: 'application/pdf', facts: { fileName: 'page.pdf' } },
  },
} satisfies Record<string, Form>

const fileForms = Object.keys(forms) as FileForm[]

/** Throws for what no phone sends. */
export function checkFile({ as, file, text, view_once }: WrittenWithFile): void {
  if (as !== undefined && !fileForms.includes(as))
    throw new SimulatorError(`as is one of: ${fileForms.join(', ')}.`)
  if (view_once !== undefined && typeof view_once !== 'boolean' && view_once !== 'readable')
    throw new SimulatorError('view_once is true, false or "readable".')
  const form = as ?? formOf(file)
  const { canBeViewOnce }: Form = forms[form]
  if (view_once && !canBeViewOnce) throw new SimulatorError(`No phone sends a ${form} to be viewed once.`)
  if (as && text && !('hasCaption' in forms[as])) throw new SimulatorError(`A ${as} has no caption.`)
}

type ComposedFile = { message: proto.IMessage; mediaType: string; isHiddenFromCompanions: boolean }

/** A message with a file, which is uploaded. */
export async function composeFile(network: Network, written: WrittenWithFile): Promise<ComposedFile> {
  const { text = '', file, view_once } = written
  const form: Form = forms[written.as ?? formOf(file)]
  const { body, mime, facts } = file ? ofCaller(file) : await ofSimulator(form.sample)
  const sealed: SealedFile = sealFile(network.media, form.sealedAs, body)
  const content = { ...sealed, mimetype: mime, fileLength: body.length, ...facts, ...form.marks }
  const message = { [form.field]: form.hasCaption ? { ...content, caption: text } : content }
  const isHiddenFromCompanions = view_once === true
  const { mediaType } = form
  return { message: view_once ? viewOnce(form.field, message) : message, mediaType, isHiddenFromCompanions }
}

/** Phones wrap voice notes in another field. */
function viewOnce(field: Field, message: proto.IMessage): proto.IMessage {
  return field === 'audioMessage'
    ? { viewOnceMessageV2Extension: { message } }
    : { viewOnceMessageV2: { message } }
}

type File = { body: Buffer; mime: string; facts?: Facts | undefined }

function ofCaller({ body, mime, filename }: WrittenFile): File {
  return { body, mime, facts: filename === undefined ? {} : { fileName: filename } }
}

/** Made by sharp (WebP, JPEG), and by ffmpeg from its own test pictures and tones (H.264 with AAC, Opus). */
async function ofSimulator({ name, ...sample }: Form['sample']): Promise<File> {
  return { body: await readFile(new URL(`../../samples/${name}`, import.meta.url)), ...sample }
}

function formOf(file: WrittenFile | undefined): FileForm {
  const [kind] = file?.filename === undefined ? (file?.mime.split('/') ?? []) : []
  if (kind === 'image') return 'picture'
  return kind === 'video' || kind === 'audio' ? kind : 'document'
}
