import type { z } from 'zod'
import { AppError, type ErrorDetail } from '../errors/app-error.ts'
import { sentenceOfIssue } from './issue-sentences.ts'
import { sentenceOfUnknown } from './unknown-parameters.ts'

/** Parameters of which a request gives one, by the type of the first. */
const alternatives = new WeakMap<z.ZodType, readonly string[]>()

/** An optional parameter without which a request must give one of `others`. */
export function unlessGiven<Type extends z.ZodType>(others: readonly string[], type: Type): Type {
  alternatives.set(type, others)
  return type
}

/** The parser throws `missing_parameter` or `invalid_parameter`, which name every parameter that is wrong. */
export function makeParameterParser<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
): (given: Map<string, unknown>) => z.infer<z.ZodObject<Shape>> {
  const names = Object.keys(schema.shape)
  const required = names.flatMap((name) => {
    const type = schema.shape[name] as z.ZodType
    const others = alternatives.get(type) ?? []
    if (others.length === 0 && type.safeParse(undefined).success) return []
    const message = [...others.map((other) => `or ${other}`), 'is required'].join(' ')
    return [{ anyOf: [name, ...others], detail: { parameter: name, message } }]
  })
  return (given) => {
    const missing = required
      .filter(({ anyOf }) => !anyOf.some((name) => given.has(name)))
      .map(({ detail }) => detail)
    if (missing.length > 0) throw refusal('missing_parameter', missing, sentenceOfUnknown(schema, given))
    return parse(schema, names, given)
  }
}

function parse<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  names: string[],
  given: Map<string, unknown>,
): z.infer<z.ZodObject<Shape>> {
  const known = names.filter((name) => given.has(name))
  const broken = known.filter((name) => !isStorable(given.get(name)))
  const values = Object.fromEntries(known.map((name) => [name, given.get(name)]))
  const result = schema.safeParse(values, { error: sentenceOfIssue })
  if (result.success && broken.length === 0) return result.data
  const invalid = [
    ...broken.map((parameter) => ({ parameter, message: 'must not contain NUL or unpaired surrogates' })),
    ...(result.error?.issues ?? [])
      .map(({ path, message }) => ({ parameter: String(path[0]), message }))
      .filter(({ parameter }) => !broken.includes(parameter)),
  ]
  throw refusal('invalid_parameter', invalid, sentenceOfUnknown(schema, given))
}

/** Postgres cannot store U+0000, and an unpaired surrogate is not valid Unicode. */
function isStorable(value: unknown): boolean {
  return typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'))
}

function refusal(
  code: 'missing_parameter' | 'invalid_parameter',
  details: ErrorDetail[],
  unknown: string,
): AppError {
  const sentences = details.map(({ parameter, message }) => `${parameter} ${message}`)
  return new AppError(code, sentences.join('; ') + unknown, { details })
}
