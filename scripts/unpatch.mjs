// Reads a patch, to restore what was before it.

/**
 * `at`: where in `old` the change begins.
 *
 * @param {string} patch
 * @returns {{ file: string, old: string, new: string, at: number }[]}
 */
export function readHunks(patch) {
  return patch.split(/^diff --git /m).flatMap((part) => {
    const file = `baileys/${part.match(/^\+\+\+ b\/(\S+)/m)?.[1]}`
    return part
      .split(/^@@ .*\n/m)
      .slice(1)
      .map((hunk) => {
        const lines = hunk.replace(/\n$/, '').split('\n')
        const side = (/** @type {string} */ sign) =>
          lines.flatMap((line) => (line[0] === ' ' || line[0] === sign ? line.slice(1) : [])).join('\n')
        const before = lines.slice(
          0,
          lines.findIndex((line) => line[0] !== ' '),
        )
        return { file, old: side('-'), new: side('+'), at: before.join('\n').length - before.length + 1 }
      })
  })
}

/**
 * The text before the patch. Throws when it is not the patched one.
 *
 * @param {string} text
 * @param {{ old: string, new: string }[]} hunks
 */
export function unpatch(text, hunks) {
  return hunks.reduce((before, hunk) => {
    if (!before.includes(hunk.new)) throw new Error(`The patch has not been applied:\n${hunk.new}`)
    return before.replace(hunk.new, () => hunk.old)
  }, text)
}
