// Loaded into the simulator: its phones take messages without opening them, which halves what it costs.
process.argv.push('--decrypt=false')
