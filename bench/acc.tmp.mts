import { recipientOf, senderNumbers } from '@wagate/devnet/harness/numbers'
import { linkSenders } from '@wagate/devnet/harness/link-senders'
import { withSystem } from '@wagate/devnet/harness/system'
import autocannon from 'autocannon'
import { readFileSync } from 'node:fs'
import { fork } from 'node:child_process'
import { once } from 'node:events'
const cpu = (pid:number) => { const s = readFileSync(`/proc/${pid}/stat`,'utf8').split(') ')[1]!.split(' '); return (Number(s[11])+Number(s[12]))*10 }
import { readdirSync } from 'node:fs'
const cpuTree = (pid: number) => { let t = 0; const per: Record<number, number> = {}; for (const d of readdirSync('/proc')) if (/^\d+$/.test(d)) { try { const s = readFileSync(`/proc/${d}/stat`,'utf8').split(') ')[1]!.split(' '); if (Number(s[1]) === pid || Number(d) === pid) t += (Number(s[11])+Number(s[12]))*10 } catch {} } return t }
async function shoot(url: string, key: string, senders: string[], seconds: number) {
  return autocannon({ url: url + '/send-message', method: 'POST', connections: 64, duration: seconds, headers: {'content-type':'application/json','x-api-key':key},
    requests: senders.map((sender, i) => ({ body: JSON.stringify({ sender, number: recipientOf(sender, i), message: 'A text to be accepted' }) })) })
}
const controller = new AbortController()
await withSystem({ workers: 1, signal: controller.signal } as never, async (system: any) => {
  const senders = senderNumbers(20)
  await linkSenders(system, senders)
  await system.devnet.stop('worker-1')
  const { devnet } = system
  const pid = devnet.pid('api')
  const key = devnet.adminKey.apiKey
  const child = fork(''+process.cwd()+'/src/accept/yardstick.ts', ['redis', devnet.redisUrl], { execArgv: ['--import', import.meta.resolve('tsx'), '--conditions=source'] })
  const [port] = await once(child, 'message') as [number]
  const targets = [['gateway', devnet.apiUrl, pid], ['redis', `http://127.0.0.1:${port}`, child.pid]] as const
  for (const [, url] of targets) await shoot(url, key, senders, 3)
  if (process.env.PROFILE) { process.kill(pid, 'SIGUSR2'); await shoot(targets[0][1], key, senders, 5); process.kill(pid, 'SIGUSR2'); await new Promise(r => setTimeout(r, 1500)) }
  const rounds = Number(process.env.ROUNDS ?? 3)
  const sums: Record<string, number[][]> = {}
  for (let i = 0; i < rounds; i++) for (const [name, url, p] of targets) {
    const pgPids = [] as number[]
    const before = cpu(p!), me = process.cpuUsage(), redis = cpu(devnet.pid('redis')), pg = cpuTree(devnet.pid('postgres'))
    const r = await shoot(url, key, senders, 4)
    const n = r.requests.total
    const u = process.cpuUsage(me)
    ;(sums[name] ??= []).push([n / r.duration, (cpu(p!) - before) / n, (u.user + u.system) / 1000 / n, (cpu(devnet.pid('redis')) - redis) / n, (cpuTree(devnet.pid('postgres')) - pg) / n, r.non2xx + r.errors, r.latency.p99])
    console.log(name, sums[name]!.at(-1)!.map((x) => x.toPrecision(4)).join(' '))
  }
  const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!
  const g = med(sums.gateway!.map((x) => x[0]!)), y = med(sums.redis!.map((x) => x[0]!))
  console.log('rate ratio', (g / y).toFixed(3), 'cpu gateway', med(sums.gateway!.map((x) => x[1]!)).toFixed(4), 'cpu redis', med(sums.redis!.map((x) => x[1]!)).toFixed(4))
  child.disconnect()
})
process.exit()
