const oldest = [20, 19]

/** Ends with a helpful sentence where Node is too old for the rest to run. */
export function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return
  console.error(
    `wagate needs Node ${oldest.join('.')} or later (24 is advised); this is ${process.versions.node}.`,
  )
  process.exit(1)
}
