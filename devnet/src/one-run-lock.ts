import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

type Holder = { pid: number; port: number; token: string }

/**
 * One run at a time may use a data folder. The holder answers its token on a loopback port: a process number
 * alone would keep a folder locked after a crash, as soon as another program got that number.
 */
export async function takeOneRunLock(folder: string): Promise<{ release(): Promise<void> }> {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'lock')
  const token = randomBytes(16).toString('hex')
  const server = await answerWith(token)
  const own = `${file}.${token}`
  writeFileSync(own, JSON.stringify({ pid: process.pid, port: portOf(server), token } satisfies Holder), {
    mode: 0o600,
  })
  try {
    while (!tryLink(own, file)) await removeIfStale(file, folder)
  } catch (error) {
    server.close()
    throw error
  } finally {
    rmSync(own)
  }
  return {
    async release() {
      if (readHolder(file)?.token === token) rmSync(file)
      server.close()
    },
  }
}

async function removeIfStale(file: string, folder: string): Promise<void> {
  const holder = readHolder(file)
  if (holder && (await isAlive(holder)))
    throw new Error(
      `wagate already runs on ${folder} (process ${holder.pid}). Stop it first, or give this one its own ` +
        'data folder and ports: npm start -- --data .data-2 --port 3001 --simulator-port 8790',
    )
  const stale = `${file}.stale-${process.pid}`
  if (!tryRename(file, stale)) return
  // Another start may have replaced the stale lock by its own between our check and our rename.
  if (readHolder(stale)?.token !== holder?.token) tryLink(stale, file)
  rmSync(stale)
}

function isAlive({ port, token }: Holder): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    socket.setEncoding('utf8').setTimeout(2000, () => socket.destroy())
    socket.on('data', (text: string) => {
      answer += text
    })
    socket.on('error', () => resolve(false)).on('close', () => resolve(answer === token))
  })
}

function answerWith(token: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => socket.destroy()).end(token))
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server.unref()))
  })
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function tryLink(from: string, to: string): boolean {
  if (existsSync(to)) return false
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (existsSync(to)) return false
    throw error
  }
}

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}
