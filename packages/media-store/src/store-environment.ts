import type { MediaStoreConfig } from './open-media-store.ts'

/** The environment variables of the store, as they were parsed. */
export type StoreEnvironment = {
  MEDIA_STORE: 'folder' | 's3'
  MEDIA_FOLDER: string
  S3_ENDPOINT?: string | undefined
  S3_REGION: string
  S3_BUCKET?: string | undefined
  S3_ACCESS_KEY_ID?: string | undefined
  S3_SECRET_ACCESS_KEY?: string | undefined
  S3_FORCE_PATH_STYLE: boolean
}

/** One line for each variable that is missing. */
export function storeProblems(env: StoreEnvironment): string[] {
  if (env.MEDIA_STORE === 'folder') return []
  const names = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const
  return names.filter((name) => !env[name]).map((name) => `${name}: is required with MEDIA_STORE=s3`)
}

export function toStoreConfig(env: StoreEnvironment): MediaStoreConfig {
  if (env.MEDIA_STORE === 'folder') return { kind: 'folder', folder: env.MEDIA_FOLDER }
  return {
    kind: 's3',
    endpoint: env.S3_ENDPOINT ?? '',
    region: env.S3_REGION,
    bucket: env.S3_BUCKET ?? '',
    accessKeyId: env.S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '',
    forcesPathStyle: env.S3_FORCE_PATH_STYLE,
  }
}
