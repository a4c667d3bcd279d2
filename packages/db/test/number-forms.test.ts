import { addedDigits, phoneForms } from '@wagate/shared/phone'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../src/client.ts'
import { numberForms } from '../src/queries/contacts/number-forms.ts'
import { openAccountDatabase } from './account-database.ts'

let db: Database
let drop: () => Promise<void>
beforeAll(async () => {
  ;({ db, drop } = await openAccountDatabase())
})
afterAll(() => drop())

/** Numbers that begin as those of which there are two forms, and others. */
const numbers = fc.oneof(
  ...addedDigits.flatMap(({ long, short }) =>
    [long, short].map((form) => fc.stringMatching(new RegExp(form))),
  ),
  fc.stringMatching(/^(55|52|54|225|229|49)[0-9]{8,11}$/),
  fc.stringMatching(/^5[245][0-9]{6,8}@lid$/),
)

test('SQL knows the same forms of a number as phoneForms', async () => {
  const given = fc.sample(numbers, 500)
  const found = await db.$client<{ number: string; forms: string[] }[]>`
    SELECT number, array_remove(array_agg(DISTINCT form), NULL) AS forms
    FROM unnest(${given}::text[]) AS given (number), LATERAL ${numberForms(db.$client, 'number')} AS forms (form)
    GROUP BY number`
  expect(found.length).toBeGreaterThan(300)
  for (const { number, forms } of found) expect(forms.sort()).toEqual(phoneForms(number).sort())
})
