// Exits with 0 when the process that listens on the port of this container is ready.
const response = await fetch(`http://127.0.0.1:${process.argv[2]}/health/ready`)
if (!response.ok) console.error(await response.text())
process.exitCode = response.ok ? 0 : 1
