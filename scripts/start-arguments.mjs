import { parseArgs } from 'node:util'

export const help = `Usage: npm start -- [options]

Starts wagate with everything it needs on this machine. Without options the WhatsApp network is
simulated: nothing leaves the machine, no real message is sent and no phone is needed.

  --live                   connect to the real WhatsApp network
  --workers <number>       how many workers share the senders (2)
  --port <port>            the API's port (3000)
  --simulator-port <port>  the control interface and page of the simulated network (8789)
  --data <folder>          where data, keys and logs are kept (.data, or .data-live with --live)
  --help                   this text

DATABASE_URL and REDIS_URL, in the environment or in .env, name servers of yours to use instead of
the private Postgres and Redis that are started otherwise.`

const options = /** @type {const} */ ({
  live: { type: 'boolean' },
  workers: { type: 'string' },
  port: { type: 'string' },
  'simulator-port': { type: 'string' },
  data: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
})

/** @typedef {{live: boolean, workers: number, port: number, simulatorPort: number, data: string, help: boolean}} StartArguments */

/**
 * Throws an error with a sentence for the person who typed them.
 *
 * @param {string[]} args
 * @returns {StartArguments}
 */
export function readStartArguments(args) {
  const { values, positionals, tokens } = parseArgs({
    args,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (!Object.hasOwn(options, token.name)) throw new Error(`There is no option ${token.rawName}.`)
    const takesValue = options[/** @type {keyof typeof options} */ (token.name)].type === 'string'
    if (takesValue !== (token.value !== undefined))
      throw new Error(`${token.rawName} takes ${takesValue ? 'a value' : 'no value'}.`)
  }
  if (positionals.length > 0) throw new Error(`"${positionals[0]}" is not an option.`)
  return {
    live: values.live === true,
    workers: readNumber('--workers', values.workers ?? '2', 1, 64),
    port: readNumber('--port', values.port ?? '3000', 1, 65_535),
    simulatorPort: readNumber('--simulator-port', values['simulator-port'] ?? '8789', 1, 65_535),
    data: String(values.data ?? (values.live === true ? '.data-live' : '.data')),
    help: values.help === true,
  }
}

/**
 * @param {string} name
 * @param {string | boolean} text
 * @param {number} least
 * @param {number} most
 */
function readNumber(name, text, least, most) {
  const number = Number(text)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw new Error(`${name} takes a whole number from ${least} to ${most}, not "${text}".`)
}
