const oldest = { major: 20, minor: 19 }

/** Ends with a helpful sentence where Node is too old for the rest to run. */
export function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return
  console.error(
    `wagate needs Node ${oldest.major}.${oldest.minor} or later (24 is advised); this is ${process.versions.node}.`,
  )
  process.exit(1)
}
