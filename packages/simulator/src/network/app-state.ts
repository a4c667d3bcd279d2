type Collection = 'critical_unblock_low' | 'regular_high' | 'regular_low'

/** What a setting is about, such as `["mute", "<jid>"]`, and an encoded SyncActionValue. Without one it is removed. */
export type Setting = { index: string[]; value: Buffer | null }
/** A change that a phone made, which its companions apply in this order. */
export type AppStatePatch = { collection: Collection; settings: Setting[] }

/** Each patch makes a new version of its collection. */
export function patchesOf(appState: AppStatePatch[], collection: string): AppStatePatch[] {
  return appState.filter((patch) => patch.collection === collection)
}

export const encodeAppState = (patches: AppStatePatch[]) =>
  patches.map(({ collection, settings }) => ({
    collection,
    settings: settings.map(({ index, value }) => ({ index, value: value?.toString('base64') ?? null })),
  }))

export function decodeAppState(stored: ReturnType<typeof encodeAppState>): AppStatePatch[] {
  return stored.map(({ collection, settings }) => ({
    collection,
    settings: settings.map(({ index, value }) => ({
      index,
      value: value === null ? null : Buffer.from(value, 'base64'),
    })),
  }))
}
