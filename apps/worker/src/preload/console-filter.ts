/**
 * libsignal prints whole session records, including private keys, to the console. Our own code does not use the console in
 * this process, so all of its output is discarded.
 */
for (const method of ['debug', 'dir', 'error', 'info', 'log', 'trace', 'warn'] as const) {
  console[method] = () => undefined
}
