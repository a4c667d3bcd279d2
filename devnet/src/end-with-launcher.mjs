// Loaded into every process that devnet starts. The channel to the launcher closes when the launcher ends,
// also by kill -9: then this process drains and ends too.
const drainMs = 16_000

process.on('disconnect', end)
process.channel?.unref()
// It may have closed while this file was being loaded.
if (!process.connected) end()

function end() {
  // Output from here on has no reader.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), drainMs).unref()
  process.kill(process.pid, 'SIGTERM')
}
