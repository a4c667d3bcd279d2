/** Removes the oldest key when there are more than `sizeMax`, and returns it. */
export function evictOldest<Key>(
  entries: { readonly size: number; keys(): Iterable<Key>; delete(key: Key): boolean },
  sizeMax: number,
): Key | undefined {
  if (entries.size <= sizeMax) return undefined
  for (const oldest of entries.keys()) {
    entries.delete(oldest)
    return oldest
  }
  return undefined
}
