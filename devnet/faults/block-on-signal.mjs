// Loaded into every worker of a trial: its event loop stands still while the rest of the process lives on.
const cell = new Int32Array(new SharedArrayBuffer(4))

process.on('SIGUSR2', () => {
  Atomics.wait(cell, 0, 0, Number(process.env.FAULTS_BLOCK_MS ?? 15_000))
})
