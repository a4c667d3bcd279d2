import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { typescript } from '@wagate/devnet/app-process'
import { linkSenders } from '@wagate/test-kit/load/link-senders'
import { recipientOf, senderNumbers } from '@wagate/test-kit/load/numbers'
import { openGateway } from '@wagate/test-kit/load/pooled-client'
import { median, significant, spread } from '@wagate/test-kit/statistics'
import { keptIn, type System, withSystem } from '@wagate/test-kit/system'
import type { BenchmarkOptions, Report } from './benchmark.ts'
import { type Attack, type AttackOrder, attacks } from './neighbours/attack.ts'

const sizes = { full: { seconds: 15, rounds: 3 }, short: { seconds: 4, rounds: 1 } }
const attackingKeys = 10
const requestEveryMs = 25

/** The default request limits, which the harness turns off. The queue has no limit, or it would refuse all attacks. */
const usualLimits = {
  LIMIT_REQUESTS_PER_SECOND: '50',
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '200',
  LOG_LEVEL: 'silent',
  QUEUED_MESSAGES_MAX: '1000000',
}

type Round = { beside: string; p50: number; p99: number; max: number; refused: number; attacks: string }

/** The time for requests of one account while ten keys of another account send as many as they can. */
export async function measureNeighbours({ short, data, signal }: BenchmarkOptions): Promise<Report> {
  const { seconds, rounds } = short ? sizes.short : sizes.full
  const environment = (name: string) => (name === 'api' ? usualLimits : {})
  return withSystem({ workers: 1, environment, signal, ...keptIn(data) }, async (system) => {
    const [sender = '', ofAttacker = ''] = senderNumbers(2)
    await linkSenders(system, [sender])
    const attacker = await makeAttacker(system, ofAttacker)
    // This measures accepting, not sending.
    await system.devnet.stop('worker-1')
    await measureRequests(system, sender, 3000)
    const found: Round[] = []
    for (let round = 0; round < rounds; round++) {
      for (const attack of [undefined, ...attacks]) {
        signal.throwIfAborted()
        const order = { apiUrl: system.devnet.apiUrl, ...attacker }
        const under = attack ? startAttack({ ...order, attack }) : undefined
        // The initial burst is used up by now.
        await delay(3000)
        const requests = await measureRequests(system, sender, seconds * 1000)
        found.push({ beside: attack ?? 'nothing', ...requests, attacks: (await under?.stop()) ?? '' })
        await delay(1000)
      }
    }
    return makeReport(found)
  })
}

/** Another account with a linked sender and ten keys. */
async function makeAttacker(system: System, sender: string): Promise<Pick<AttackOrder, 'keys' | 'sender'>> {
  const { gateway, devnet } = system
  const email = `attacker-${Date.now()}@example.com`
  const user = await gateway.call('create-user', { email, password: 'correct horse battery' })
  const ofAttacker = openGateway(devnet.apiUrl, String(user.body.api_key), 4)
  await linkSenders({ ...system, gateway: ofAttacker }, [sender])
  const keys = [String(user.body.api_key)]
  while (keys.length < attackingKeys) {
    const { status, body } = await ofAttacker.call('create-key', { name: `key ${keys.length}` })
    if (status !== 200) throw new Error(`No key: ${JSON.stringify(body)}`)
    keys.push(String(body.api_key))
  }
  ofAttacker.close()
  return { keys, sender }
}

function startAttack(order: AttackOrder): { stop(): Promise<string> } {
  const child = fork(fileURLToPath(new URL('./neighbours/attack.ts', import.meta.url)), {
    execArgv: ['--import', typescript, '--conditions=source'],
  })
  const answers = new Map<number, number>()
  child.on('message', (status: number) => answers.set(status, (answers.get(status) ?? 0) + 1))
  child.send(order)
  return {
    async stop() {
      child.kill()
      return [...answers].map(([status, count]) => `${count} × ${status}`).join(', ')
    },
  }
}

/** At a steady pace, whether earlier requests were answered or not. */
async function measureRequests(
  { gateway }: System,
  sender: string,
  forMs: number,
): Promise<Omit<Round, 'beside' | 'attacks'>> {
  const asked: Promise<{ ms: number; status: number }>[] = []
  const startedAt = performance.now()
  for (let n = 0; performance.now() - startedAt < forMs; n++) {
    asked.push(ask(n))
    await delay(Math.max(0, startedAt + (n + 1) * requestEveryMs - performance.now()))
  }
  const answers = await Promise.all(asked)
  return {
    ...spread(answers.map(({ ms }) => ms)),
    refused: answers.filter(({ status }) => status !== 200).length,
  }

  async function ask(n: number): Promise<{ ms: number; status: number }> {
    const from = performance.now()
    const isSend = n % 2 === 0
    const { status } = isSend
      ? await gateway.call('send-message', { sender, number: recipientOf(sender, n), message: `text ${n}` })
      : await gateway.call('info-device', { sender })
    return { ms: performance.now() - from, status }
  }
}

function makeReport(found: Round[]): Report {
  const of = (beside: string, figure: 'p50' | 'p99' | 'max') =>
    median(found.filter((round) => round.beside === beside).map((round) => round[figure]))
  const ways = ['nothing', ...attacks] satisfies (Attack | 'nothing')[]
  const rows = ways.map((beside) => ({
    beside,
    'p50 ms': of(beside, 'p50'),
    'p99 ms': of(beside, 'p99'),
    'max ms': of(beside, 'max'),
    'p99 against nothing': significant(of(beside, 'p99') / of('nothing', 'p99')),
    refused: found.filter((round) => round.beside === beside).reduce((sum, round) => sum + round.refused, 0),
    'answers to the attack': found.find((round) => round.beside === beside)?.attacks ?? '',
  }))
  return {
    tables: [{ title: `Requests of one account beside ${attackingKeys} keys of another`, rows }],
    notes: [
      `A request every ${requestEveryMs} ms, sends and device reads in turn; medians of the rounds. The attacker has four requests of each key in flight.`,
    ],
    samples: found,
  }
}
