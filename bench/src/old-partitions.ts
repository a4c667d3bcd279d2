import type { Database } from '@wagate/db/client'

const weekMs = 7 * 86_400_000

/** Creates the partitions of `messages` of the last weeks, as the product does. Future partitions exist already. */
export async function makeOldPartitions(sql: Database['$client'], weeks: number): Promise<void> {
  const thisWeek = Math.floor(Date.now() / weekMs)
  for (let week = thisWeek - weeks; week < thisWeek - 1; week++) {
    const [from, to] = [week, week + 1].map((n) => new Date(n * weekMs).toISOString()) as [string, string]
    const name = `messages_${from.slice(0, 10).replaceAll('-', '')}`
    await sql.unsafe(`
      CREATE TABLE ${name} PARTITION OF messages FOR VALUES FROM ('${from}') TO ('${to}') WITH (fillfactor = 80)`)
  }
}
