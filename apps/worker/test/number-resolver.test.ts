import { describe, expect, test } from 'vitest'
import { makeNumberResolver, makeRecipientsCache } from '../src/outbox/number-resolver.ts'
import { type LookUp, type LookUpAnswer, LookUpRefused } from '../src/session/contacts/look-up.ts'

const jidOf = (number: string) => `${number}@s.whatsapp.net`
const refusal = (code: string, backoff?: string) =>
  new LookUpRefused({ tag: 'error', attrs: { code, ...(backoff && { backoff }) } })

function setUp(answer: (numbers: string[]) => LookUpAnswer) {
  let nowMs = 0
  const asked: string[][] = []
  const recipientsOf = makeRecipientsCache()
  const clock = { nowMs: () => nowMs, random: () => 0 }
  const lookUp: LookUp = async (numbers) => {
    asked.push(numbers)
    return answer(numbers)
  }
  return {
    asked,
    lookUp,
    resolver: makeNumberResolver(recipientsOf(1), clock),
    other: makeNumberResolver(recipientsOf(2), clock),
    pass(ms: number) {
      nowMs += ms
    },
  }
}

const allFound = (numbers: string[]): LookUpAnswer =>
  new Map(numbers.map((number) => [number, jidOf(number)]))

describe('resolving numbers', () => {
  test('asks WhatsApp once for each number, and remembers which are not on WhatsApp', async () => {
    const { resolver, lookUp, asked } = setUp(
      () =>
        new Map([
          ['1', jidOf('1')],
          ['2', null],
          ['3', jidOf('33')],
        ]),
    )
    await resolver.resolve(['1', '2', '1', '3'], lookUp)
    await resolver.resolve(['1', '2', '3'], lookUp)
    expect(asked).toEqual([['1', '2', '3']])
    expect(['1', '2', '3'].map(resolver.find)).toEqual([jidOf('1'), null, jidOf('33')])
  })

  test('leaves a number unknown without an answer, and asks again after growing pauses', async () => {
    const { resolver, lookUp, asked, pass } = setUp(() => new Map([['1', jidOf('1')]]))
    await resolver.resolve(['1', '2'], lookUp)
    expect(resolver.find('2')).toBeUndefined()
    expect(resolver.waitMs('2')).toBe(5000)
    await resolver.resolve(['2'], lookUp)
    expect(asked).toHaveLength(1)
    pass(5000)
    await resolver.resolve(['2'], lookUp)
    expect(asked).toEqual([['1', '2'], ['2']])
    expect(resolver.waitMs('2')).toBe(10_000)
  })

  test('pauses the look-ups of one sender only, for as long as WhatsApp asks', async () => {
    let isLimited = true
    const { resolver, other, lookUp, pass } = setUp((numbers) => {
      if (isLimited) throw refusal('429', '60')
      return allFound(numbers)
    })
    await expect(resolver.resolve(['1', '2'], lookUp)).rejects.toThrow('429')
    expect(resolver.find('1')).toBeUndefined()
    expect([resolver.waitMs('1'), resolver.waitMs('3'), other.waitMs('1')]).toEqual([60_000, 60_000, 0])
    pass(60_000)
    isLimited = false
    await resolver.resolve(['1', '2'], lookUp)
    expect(resolver.find('1')).toBe(jidOf('1'))
    expect(resolver.waitMs('3')).toBe(0)
  })

  test('waits longer each time that WhatsApp refuses without saying for how long', async () => {
    const { resolver, lookUp, pass } = setUp(() => {
      throw refusal('503')
    })
    const pauses = []
    for (let attempt = 0; attempt < 4; attempt++) {
      await expect(resolver.resolve(['1'], lookUp)).rejects.toThrow('503')
      pauses.push(resolver.waitMs('1'))
      pass(resolver.waitMs('1'))
    }
    expect(pauses).toEqual([2000, 4000, 8000, 16_000])
  })

  test('finds all others when one number makes WhatsApp refuse the query', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => String(index))
    const { resolver, lookUp, asked } = setUp((given) => {
      if (given.includes('17')) throw refusal('400')
      return allFound(given)
    })
    await resolver.resolve(numbers, lookUp)
    expect(numbers.filter((number) => resolver.find(number) === undefined)).toEqual(['17'])
    expect(resolver.waitMs('17')).toBeGreaterThan(0)
    expect(asked.length).toBeLessThan(15)
  })

  test('does not share the answers of one device with others', async () => {
    const { resolver, other, lookUp } = setUp((numbers) => new Map(numbers.map((number) => [number, null])))
    await resolver.resolve(['1'], lookUp)
    expect(resolver.find('1')).toBeNull()
    expect(other.find('1')).toBeUndefined()
  })

  test('learns nothing, and pauses nothing, when the connection ends', async () => {
    const { resolver } = setUp(allFound)
    await expect(resolver.resolve(['1'], () => Promise.reject(new Error('closed')))).rejects.toThrow('closed')
    expect(resolver.find('1')).toBeUndefined()
    expect(resolver.waitMs('1')).toBe(0)
  })
})
