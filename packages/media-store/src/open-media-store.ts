import { resolve } from 'node:path'
import { openFolderStore } from './folder-store.ts'
import type { MediaStore } from './media-store.ts'
import { openS3Store, type S3Options } from './s3-store.ts'

export type MediaStoreConfig = { kind: 'folder'; folder: string } | ({ kind: 's3' } & S3Options)

export function openMediaStore(config: MediaStoreConfig): MediaStore {
  return config.kind === 'folder' ? openFolderStore(resolve(config.folder)) : openS3Store(config)
}
