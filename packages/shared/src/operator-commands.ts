/** The commands of operators, with the app whose program has them. `scripts/wagate.mjs` runs each from the repository. */
export const operatorCommands = [
  {
    app: 'api',
    call: 'admin create --email <address>',
    does: 'create an ADMIN account and print its API key',
  },
  { app: 'worker', call: 'keys rotate', does: 're-encrypt stored values with the current MASTER_KEY' },
  {
    app: 'worker',
    call: 'shards set <number>',
    does: 'change the number of shards, while everything is stopped',
  },
  {
    app: 'worker',
    call: 'network set live|simulator',
    does: 'record which WhatsApp network the senders are on',
  },
  {
    app: 'worker',
    call: 'signal-format set 1|2',
    does: 'change the format in which Signal sessions are stored',
  },
  {
    app: 'worker',
    call: 'housekeeping',
    does: 'create and drop partitions and delete expired rows until stopped',
  },
  {
    app: 'worker',
    call: 'dispatcher',
    does: 'deliver webhooks until stopped, beside the workers or in their place',
  },
] as const

const widest = Math.max(...operatorCommands.map(({ call }) => call.length))

/** One line for each command. */
const commandList = `Usage: wagate <command>

${operatorCommands.map(({ call, does }) => `  ${call.padEnd(widest)}  ${does}`).join('\n')}

"wagate <command> --help" says more about one. Settings such as DATABASE_URL come from the environment.
From a clone: node scripts/wagate.mjs <command>, which also reads .env. In the images: node apps/api/dist/cli.js for
"admin", and node apps/worker/dist/cli.js for the others.`

/** What to print for a call whose first word is no command of the app. Undefined if it is one. */
export function helpInsteadOf(app: 'api' | 'worker', word: string | undefined): string | undefined {
  if (word === undefined) return commandList
  const known = operatorCommands.find(({ call }) => call.split(' ')[0] === word)
  if (known?.app === app) return undefined
  return `${known ? `"${word}" is in node apps/${known.app}/dist/cli.js.` : `There is no command "${word}".`}\n\n${commandList}`
}
