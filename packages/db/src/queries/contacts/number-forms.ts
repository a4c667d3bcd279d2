import { addedDigits } from '@wagate/shared/phone'
import type postgres from 'postgres'

/**
 * SQL text: the forms under which WhatsApp may know a number, as `phoneForms` of packages/shared: itself, and the other one
 * or null. `number` is SQL. What is no number, such as a LID, has one form. For `FROM …, LATERAL`.
 */
export const formsOf = (number: string) => `(VALUES (${number}), (${otherFormOf(number)}))`

/** SQL texts that were written before, by `number`: statements about each message contain some of them. */
const otherForms = new Map<string, string>()

function otherFormOf(number: string): string {
  const known = otherForms.get(number) ?? writeOtherForm(number)
  otherForms.set(number, known)
  return known
}

function writeOtherForm(number: string): string {
  const countries = [...new Set(addedDigits.map(({ country }) => country))].map((country) => {
    const cases = addedDigits
      .filter((plan) => plan.country === country)
      .flatMap(({ long, short, added }) => [
        `WHEN ${number} ~ '${long}' THEN regexp_replace(${number}, '${long}', '\\1\\2')`,
        `WHEN ${number} ~ '${short}' THEN regexp_replace(${number}, '${short}', '\\1${added}\\2')`,
      ])
    return `WHEN starts_with(${number}, '${country}') THEN CASE ${cases.join(' ')} END`
  })
  return `CASE ${countries.join(' ')} END`
}

/** `formsOf` as a part of a statement. */
export const numberForms = (sql: postgres.Sql, number: string) => sql.unsafe(formsOf(number))

/** SQL: the same text for all forms of a number. */
export const subscriber = (sql: postgres.Sql, number: string) =>
  sql.unsafe(`least(${number}, ${otherFormOf(number)})`)
