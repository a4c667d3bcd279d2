import { expect, test } from 'vitest'
import { makeAccountSalt } from '../src/session/credentials/account-salt.ts'

const current = Buffer.from('current')
const old = Buffer.from('old')

function makeStore(whileReading: () => void = () => undefined) {
  const written: unknown[] = []
  const salt = makeAccountSalt({
    async readOwn() {
      whileReading()
      return new Map()
    },
    writeOwn: async (_type, values) => void written.push(...values.values()),
  })
  return { salt, written }
}

test('the salt of a history is stored if there is none', async () => {
  const { salt, written } = makeStore()
  await salt.setFirst(old)
  expect(written).toEqual([old])
})

test.each([[current], [undefined]])(
  'the salt of a history does not replace what the app state says meanwhile (%s)',
  async (given) => {
    const { salt, written } = makeStore(() => void salt.set(given))
    await salt.setFirst(old)
    expect(written).toEqual([given ?? null])
  },
)
