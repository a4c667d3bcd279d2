import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// Loaded into the workers of a test. A worker that is about to encrypt the poison ends as it would by a crash of native
// code: without a word, and with all that it was doing.
const worker = fileURLToPath(new URL('../apps/worker', import.meta.url))
// Node knows the module that the worker loads by its real path.
const file = realpathSync(join(worker, 'node_modules', 'baileys', 'WAProto', 'index.js'))
const { proto } = await import(pathToFileURL(file).href)
const { POISON_TEXT } = process.env

proto.Message.encode = new Proxy(proto.Message.encode, {
  apply(encode, self, given) {
    const content = given[0]?.deviceSentMessage?.message ?? given[0]
    const text = content?.extendedTextMessage?.text ?? content?.conversation
    if (POISON_TEXT && text === POISON_TEXT) process.abort()
    return Reflect.apply(encode, self, given)
  },
})
