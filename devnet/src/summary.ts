import { lstatSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { adminKeyFile, environmentFile } from './data-folder.ts'
import type { Devnet } from './devnet.ts'

const sender = '15550100001'
const recipient = '15550100002'

type Known = {
  isKeyAccepted: boolean
  /** The names of the settings that .env has changed. */
  fromEnvFile: string[]
}

/** The text after a start: addresses, the key and commands to paste. */
export function summarize(devnet: Devnet, { isKeyAccepted, fromEnvFile }: Known): string {
  return [
    heading(devnet),
    facts(devnet, fromEnvFile),
    keyNote(devnet, isKeyAccepted),
    commands(devnet),
    ending(devnet),
  ].join('\n\n')
}

const ending = ({ simulator }: Devnet) =>
  `Ctrl-C stops everything; the data stays${simulator ? ', except the chats on the simulated phones' : ''}.`

function heading({ simulator }: Devnet): string {
  return simulator
    ? 'wagate is ready, on a SIMULATED WhatsApp network: nothing leaves this machine and no real message is sent.'
    : 'wagate is ready, connected to the REAL WhatsApp network: messages reach people.'
}

function facts({ apiUrl, simulator, dataFolder, about, names }: Devnet, fromEnvFile: string[]): string {
  const workers = names().filter((name) => name.startsWith('worker'))
  const lines: [string, string][] = [
    ['API', apiUrl],
    ['Try it', `${apiUrl}/docs (every operation, with a form)`],
    ['Link', `${apiUrl}/link (the page that links a sender)`],
    ...(simulator
      ? [
          ['Phones', `${simulator.controlUrl} (the simulated handsets and their chats)`] as const,
          ['Sign up', `${apiUrl}/sign-up`] as const,
          ['Mails', `${simulator.controlUrl}/mailbox.html (delivered to nobody)`] as const,
        ]
      : []),
    ['Workers', workers.join(', ')],
    ...(fromEnvFile.length > 0 ? [['From .env', fromEnvFile.join(', ')] as const] : []),
    ['Data', dataFolders(dataFolder)],
    ['Postgres', about.postgres],
    ['Redis', about.redis],
    ['Admin key', shown(adminKeyFile(dataFolder))],
    ['Logs', shown(`${dataFolder}/logs`)],
  ].map(([name = '', value = '']) => [name, value])
  return lines.map(([name, value]) => `  ${name.padEnd(10)} ${value}`).join('\n')
}

/** Root's Postgres runs under another account, and its files may be where that account can reach them. */
function dataFolders(dataFolder: string): string {
  const postgres = join(dataFolder, 'postgres')
  const isElsewhere = lstatSync(postgres, { throwIfNoEntry: false })?.isSymbolicLink()
  return isElsewhere
    ? `${shown(dataFolder)}, and of Postgres, because you are root, ${realpathSync(postgres)}`
    : shown(dataFolder)
}

function keyNote({ adminKey, dataFolder }: Devnet, isKeyAccepted: boolean): string {
  if (adminKey.isNew) return `Created the first ADMIN. API key: ${adminKey.apiKey}`
  if (isKeyAccepted) return `The key of the first ADMIN is in ${shown(adminKeyFile(dataFolder))}.`
  return (
    `This database has an ADMIN, but ${shown(adminKeyFile(dataFolder))} does not hold a key of one. Make another:\n` +
    `  node --env-file=${quoted(shown(environmentFile(dataFolder)))} scripts/wagate.mjs admin create --email you@example.com`
  )
}

function commands(devnet: Devnet): string {
  const { apiUrl, simulator, dataFolder } = devnet
  const key = `KEY=$(cat ${quoted(shown(adminKeyFile(dataFolder)))})`
  const history = `curl -s -w '\\n' -H "x-api-key: $KEY" ${apiUrl}/messages`
  return simulator
    ? simulatedTour(apiUrl, simulator.controlUrl, key, history)
    : liveTour(apiUrl, key, history)
}

function simulatedTour(apiUrl: string, controlUrl: string, key: string, history: string): string {
  return `Try it in another terminal: link a sender by letting a simulated phone scan its QR, then send.

  ${key}
  QR=$(curl -s -H "x-api-key: $KEY" '${apiUrl}/generate-qr?sender=${sender}' | sed 's/.*"qr_text":"\\([^"]*\\)".*/\\1/')
  curl -s -w '\\n' ${controlUrl}/scan -H 'content-type: application/json' -d '{"number":"${sender}","qr":"'"$QR"'"}'
  curl -s -w '\\n' ${apiUrl}/send-message -H "x-api-key: $KEY" -H 'content-type: application/json' \\
    -d '{"sender":"${sender}","number":"${recipient}","message":"Hello from wagate","wait":10}'
  curl -s -w '\\n' ${controlUrl}/chats/${recipient}/messages     # what the recipient's phone shows
  ${history}     # the history`
}

function liveTour(apiUrl: string, key: string, history: string): string {
  return `In another terminal, with the number of your phone, digits only and with the country's prefix:

  ${key}
  SENDER=<your number>
  curl -s -H "x-api-key: $KEY" "${apiUrl}/generate-qr?sender=$SENDER" | sed 's/.*"qr":"\\([^"]*\\)".*/\\1/' | base64 -d > qr.png
  # WhatsApp on the phone: Settings, Linked devices, Link a device, and scan qr.png within two minutes
  curl -s -w '\\n' ${apiUrl}/send-message -H "x-api-key: $KEY" -H 'content-type: application/json' \\
    -d '{"sender":"'$SENDER'","number":"<recipient>","message":"Hello from wagate","wait":10}'
  ${history}`
}

/** Relative to where the person is when that is shorter. */
function shown(path: string): string {
  const from = relative(process.env.INIT_CWD ?? process.cwd(), path)
  return from.startsWith('..') ? path : from
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
