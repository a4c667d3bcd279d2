import { z } from 'zod'

const known = new WeakMap<z.ZodObject, ReadonlySet<string>>()

/** The parameters that take a list, which may appear several times in a query or a form. */
export function listParameters(schema: z.ZodObject): ReadonlySet<string> {
  const found =
    known.get(schema) ?? new Set(Object.keys(schema.shape).filter((name) => takesList(schema.shape[name])))
  known.set(schema, found)
  return found
}

function takesList(type: unknown): boolean {
  if (type instanceof z.ZodOptional) return takesList(type.def.innerType)
  if (type instanceof z.ZodPipe) return takesList(type.def.in)
  if (type instanceof z.ZodUnion) return type.def.options.some(takesList)
  return type instanceof z.ZodArray
}
