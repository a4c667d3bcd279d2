import { addedDigits } from '@wagate/shared/phone'
import type postgres from 'postgres'

/**
 * SQL text: the forms under which WhatsApp may know a number, as `phoneForms` of packages/shared: itself, and the other one
 * or null. `number` is SQL. What is no number, such as a LID, has one form. For `FROM …, LATERAL`.
 */
export function formsOf(number: string): string {
  const text = written.get(number) ?? `(VALUES (${number}), (${otherFormOf(number)}))`
  written.set(number, text)
  return text
}

/** By what they are the forms of. Statements have them for each message. */
const written = new Map<string, string>()

function otherFormOf(number: string): string {
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
