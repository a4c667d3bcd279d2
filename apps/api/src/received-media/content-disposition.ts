/** RFC 6266: a name in ASCII for old clients, and the exact one. */
export function contentDisposition(filename: string): string {
  const ascii = filename.replaceAll(/[^\w.() -]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeName(filename)}`
}

/** RFC 8187 allows fewer characters than encodeURIComponent leaves. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
