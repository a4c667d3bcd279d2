// Exits with 0 when the process that listens on the port of this container is ready, or has the given path of its health.
const [port, path = '/health/ready'] = process.argv.slice(2)
const response = await fetch(`http://127.0.0.1:${port}${path}`)
if (!response.ok) console.error(await response.text())
process.exitCode = response.ok ? 0 : 1
