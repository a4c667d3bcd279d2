/**
 * libsignal prints whole session records, private keys included, through the console. Nothing of ours
 * uses the console in this process, so nothing of it is let through.
 */
for (const method of ['debug', 'dir', 'error', 'info', 'log', 'trace', 'warn'] as const) {
  console[method] = () => undefined
}
