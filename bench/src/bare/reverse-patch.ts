import type { InitializeHook, LoadHook } from 'node:module'

/** What the patch has made of a text, and what was there before. */
type Change = { patched: string; released: string }

/** By the end of the URL of each file that the patch changes. */
const changesOf = new Map<string, Change[]>()

export const initialize: InitializeHook<string> = (patch) => {
  for (const part of patch.split(/^diff --git .*\n/m).slice(1)) {
    const path = /^\+\+\+ b\/(.*)$/m.exec(part)?.[1]
    changesOf.set(
      `/node_modules/baileys/${path}`,
      part
        .split(/^@@ .*\n/m)
        .slice(1)
        .map(toChange),
    )
  }
}

function toChange(hunk: string): Change {
  const lines = hunk.split('\n').filter((line) => line !== '')
  const without = (sign: string) =>
    lines
      .filter((line) => !line.startsWith(sign))
      .map((line) => line.slice(1))
      .join('\n')
  return { patched: without('-'), released: without('+') }
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  const [, changes] = [...changesOf].find(([end]) => url.endsWith(end)) ?? []
  if (!changes) return loaded
  let source = String(loaded.source)
  for (const { patched, released } of changes) {
    if (!source.includes(patched)) throw new Error(`${url} is not as the patch makes it`)
    source = source.replace(patched, () => released)
  }
  return { ...loaded, source }
}
