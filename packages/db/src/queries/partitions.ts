import type postgres from 'postgres'

const weekMs = 7 * 86_400_000
const weeksAhead = 8

/** Weekly partitions of `messages`, from last week (clocks differ) to 8 weeks ahead. */
export async function ensureMessagePartitions(client: postgres.Sql): Promise<void> {
  const [row] = await client<{ nowMs: number }[]>`SELECT extract(epoch FROM now())::float8 * 1000 AS "nowMs"`
  const thisWeek = Math.floor((row?.nowMs ?? Date.now()) / weekMs)
  for (let week = thisWeek - 1; week <= thisWeek + weeksAhead; week++) {
    const from = new Date(week * weekMs).toISOString()
    const to = new Date((week + 1) * weekMs).toISOString()
    const name = `messages_${from.slice(0, 10).replaceAll('-', '')}`
    await client.unsafe(
      `CREATE TABLE IF NOT EXISTS ${name} PARTITION OF messages FOR VALUES FROM ('${from}') TO ('${to}')`,
    )
  }
}
