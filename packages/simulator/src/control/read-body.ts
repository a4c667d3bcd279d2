import type { IncomingMessage } from 'node:http'
import { SimulatorError } from '../network/simulator-error.ts'

const bodyBytesMax = 12 * 1024 * 1024

export type Body = Record<string, unknown>

export async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > bodyBytesMax)
      throw new SimulatorError(`The body is too large. Send at most ${bodyBytesMax} bytes.`, 413)
    chunks.push(chunk)
  }
  return parse(Buffer.concat(chunks).toString('utf8'))
}

function parse(text: string): Body {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new SimulatorError('The body is not valid JSON.')
  }
  if (!isObject(value)) throw new SimulatorError('The body must be a JSON object.')
  return value
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objects(body: Body, name: string): Body[] {
  const value = body[name]
  if (!Array.isArray(value) || !value.every(isObject))
    throw new SimulatorError(`${name} must be a list of JSON objects.`)
  return value
}

export function text(body: Body, name: string): string {
  const value = optionalText(body, name)
  if (value === undefined) throw new SimulatorError(`${name} is missing.`)
  return value
}

export function optionalText(body: Body, name: string): string | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number') return value.toString()
  if (typeof value !== 'string' || value === '')
    throw new SimulatorError(`${name} must be a string with at least one character.`)
  return value
}

export function optionalNumber(body: Body, name: string): number | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new SimulatorError(`${name} must be a number.`)
  return value
}

export function optionalFlag(body: Body, name: string): boolean | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw new SimulatorError(`${name} is not true or false.`)
  return value
}

/** Callers may write a number like people do: +49 151 … */
export const digits = (number: string | undefined): string => (number ?? '').replace(/[+\s()-]/g, '')
