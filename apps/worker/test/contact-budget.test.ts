import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ContactBudget, makeContactBudget } from '../src/outbox/contact-budget.ts'

const dayMs = 86_400_000
const noon = Date.UTC(2030, 0, 1, 12)

const message = (number: string, id = number) => ({ id, number, isToContact: false })
const allow = (perDay: number) => ({ perDay, warmUpDays: 0, warmUpDay: 0 })
const day = Math.floor(noon / dayMs)
const isNew = (number: string, of = day) => ({ kind: 'claimed', countedToday: number, day: of }) as const
const isKnown = { kind: 'claimed', countedToday: null, day } as const

function makeKnown() {
  const numbers = new Set<string>()
  return { has: (number: string) => numbers.has(number), add: (number: string) => void numbers.add(number) }
}

function open(perDay: number, newContacts: string[] = []) {
  let nowMs = noon
  const given = { budget: allow(perDay), newContacts, nowMs: noon }
  const budget = makeContactBudget(given, makeKnown(), () => nowMs)
  let changes = 0
  budget.onChange(() => {
    changes += 1
  })
  return {
    budget,
    changes: () => changes,
    passDay() {
      nowMs += dayMs
    },
  }
}

async function meet(budget: ContactBudget, number: string): Promise<string> {
  const admission = await budget.reserve(message(number))
  if (admission === 'count') budget.conclude(message(number), isNew(number))
  return admission
}

describe('the budget', () => {
  test('lets as many new contacts through, and then only those that have counted', async () => {
    const { budget, changes } = open(2)
    expect([await meet(budget, 'a'), await meet(budget, 'b')]).toEqual(['count', 'count'])
    expect([budget.isUsedUp(), changes()]).toEqual([true, 1])
    expect([await meet(budget, 'c'), await meet(budget, 'a')]).toEqual(['wait', 'admitted'])
    expect(['a', 'c'].map((number) => budget.admits(message(number)))).toEqual([true, false])
    expect(budget.admits({ ...message('d'), isToContact: true })).toBe(true)
  })

  test('goes on with what a former owner has counted', async () => {
    const { budget } = open(2, ['a', 'b'])
    expect(budget.isUsedUp()).toBe(true)
    expect([await meet(budget, 'c'), await meet(budget, 'a')]).toEqual(['wait', 'admitted'])
  })

  test('is full again the next day, when earlier contacts do not count again', async () => {
    const { budget, passDay } = open(1)
    await meet(budget, 'a')
    passDay()
    expect(budget.isUsedUp()).toBe(false)
    expect([await meet(budget, 'a'), await meet(budget, 'b'), await meet(budget, 'c')]).toEqual([
      'admitted',
      'count',
      'wait',
    ])
  })

  test('counts a contact on the day that Postgres says, when that has begun sooner than here', async () => {
    const { budget, passDay } = open(2)
    await meet(budget, 'a')
    await budget.reserve(message('b'))
    budget.conclude(message('b'), isNew('b', day + 1))
    expect([await meet(budget, 'c'), await meet(budget, 'd')]).toEqual(['count', 'wait'])
    passDay()
    expect(await meet(budget, 'd')).toBe('wait')
  })

  test('is not used up by known contacts, and the claims of others wait for theirs', async () => {
    const { budget } = open(1)
    expect(await budget.reserve(message('a'))).toBe('count')
    const next = budget.reserve(message('b'))
    expect(await Promise.race([next, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
    budget.conclude(message('a'), isKnown)
    expect(await next).toBe('count')
    budget.conclude(message('b'), isNew('b'))
    expect(budget.isUsedUp()).toBe(true)
  })

  test('is given back when the message was canceled', async () => {
    const { budget } = open(1)
    await budget.reserve(message('a'))
    budget.conclude(message('a'), { kind: 'unclaimed' })
    expect(await meet(budget, 'b')).toBe('count')
  })

  test('is kept for a message whose claim had no answer, until its next claim', async () => {
    const { budget } = open(1)
    await budget.reserve(message('a'))
    budget.conclude(message('a'), { kind: 'unknown' })
    expect([budget.admits(message('b')), await budget.reserve(message('b'))]).toEqual([false, 'wait'])
    expect([budget.admits(message('a')), await budget.reserve(message('a'))]).toEqual([true, 'count'])
    budget.conclude(message('a'), isKnown)
    expect(await meet(budget, 'b')).toBe('count')
  })

  const [lid, longForm, shortForm] = ['17@lid', '5511987654321', '551187654321']

  test('counts a subscriber once, under every form of the number', async () => {
    const { budget } = open(2, [longForm])
    expect(await meet(budget, shortForm)).toBe('admitted')
    expect([await meet(budget, 'b'), await meet(budget, 'c')]).toEqual(['count', 'wait'])
    const claimed = open(2).budget
    expect([await meet(claimed, longForm), await meet(claimed, shortForm)]).toEqual(['count', 'admitted'])
    claimed.move(lid, shortForm)
    expect([await meet(claimed, 'b'), await meet(claimed, 'c')]).toEqual(['count', 'wait'])
  })

  test('has room again when two contacts turn out to be one, which those that wait are told', async () => {
    const { budget, changes } = open(2, [lid, shortForm])
    expect([budget.isUsedUp(), await meet(budget, 'c')]).toEqual([true, 'wait'])
    budget.move(lid, longForm)
    expect([budget.isUsedUp(), changes(), await meet(budget, 'c')]).toEqual([false, 1, 'count'])
    expect(await meet(budget, 'd')).toBe('wait')
  })

  test('has room for a claim that waits when two contacts turn out to be one', async () => {
    const { budget } = open(3, [lid, longForm])
    expect(await budget.reserve(message('a'))).toBe('count')
    const next = budget.reserve(message('b'))
    expect(await Promise.race([next, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
    budget.move(lid, longForm)
    expect(await next).toBe('count')
  })

  test('counts a contact once whose number is learnt during the claim', async () => {
    const { budget } = open(2, [longForm])
    const first = message(lid)
    await budget.reserve(first)
    budget.move(lid, longForm)
    budget.conclude({ ...first, number: longForm }, isNew(lid))
    expect([await meet(budget, 'b'), await meet(budget, 'c')]).toEqual(['count', 'wait'])
  })

  test('takes a new size at once, and 0 lifts it', async () => {
    const { budget, changes } = open(1)
    await meet(budget, 'a')
    budget.set(allow(2))
    expect([budget.isUsedUp(), changes()]).toEqual([false, 2])
    budget.set(allow(1))
    expect([budget.isUsedUp(), changes()]).toEqual([true, 3])
    budget.set(allow(0))
    expect([budget.isUsedUp(), await meet(budget, 'b')]).toEqual([false, 'admitted'])
  })
})

type Claim = { number: string; answer: 'claimed' | 'lost before' | 'lost after' | 'unclaimed' }

const claims = fc.array(
  fc.record({
    number: fc.nat(12).map(String),
    answer: fc.constantFrom(...(['claimed', 'claimed', 'lost before', 'lost after', 'unclaimed'] as const)),
  }),
  { maxLength: 60 },
)

test('no order of claims and lost answers counts more contacts than allowed', async () => {
  await fc.assert(
    fc.asyncProperty(claims, fc.integer({ min: 1, max: 4 }), fc.scheduler(), async (given, perDay, order) => {
      const { budget } = open(perDay)
      /** As in Postgres. Even numbers are known contacts. */
      const stored = new Set<string>()

      const run = async ({ number, answer }: Claim, index: number) => {
        const of = message(number, `${index}`)
        if ((await budget.reserve(of)) !== 'count') return
        if (answer !== 'unclaimed' && answer !== 'lost before' && Number(number) % 2 === 1) stored.add(number)
        expect(stored.size).toBeLessThanOrEqual(perDay)
        await order.schedule(Promise.resolve())
        if (answer === 'unclaimed') budget.conclude(of, { kind: 'unclaimed' })
        else if (answer !== 'claimed') budget.conclude(of, { kind: 'unknown' })
        else budget.conclude(of, stored.has(number) ? isNew(number) : isKnown)
      }

      const all = Promise.all(given.map(run))
      await order.waitFor(all)
    }),
    { numRuns: 300 },
  )
})
