import type { Network } from '../network/network.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { refusers, type WebVersion, webPages } from '../network/web-version.ts'

/** As it is written in a request. What is missing stays as it is. */
export type WebVersionRequest = {
  revision?: number
  oldest_allowed?: number
  refused_by?: string
  page?: string
}

export type WebVersionActions = {
  /** Sets the version of WhatsApp Web, the oldest one that it allows, and the page that names it. Returns all of it. */
  webVersion: (request?: WebVersionRequest) => WebVersion
}

export function webVersionActions(network: Network): WebVersionActions {
  return {
    webVersion(request = {}) {
      network.webVersion = changeWebVersion(network.webVersion, request)
      return network.webVersion
    },
  }
}

export function changeWebVersion(
  present: WebVersion,
  { revision, oldest_allowed: oldest, refused_by: refuser, page }: WebVersionRequest,
): WebVersion {
  return {
    revision: revision === undefined ? present.revision : revisionOf('revision', revision),
    oldest_allowed: oldest === undefined ? present.oldest_allowed : revisionOf('oldest_allowed', oldest),
    refused_by: refuser === undefined ? present.refused_by : oneOf('refused_by', refusers, refuser),
    page: page === undefined ? present.page : oneOf('page', webPages, page),
  }
}

function revisionOf(name: string, value: number): number {
  if (!(Number.isInteger(value) && value >= 0)) throw new SimulatorError(`${name} is a whole number.`)
  return value
}

function oneOf<Value extends string>(name: string, values: readonly Value[], value: string): Value {
  const found = values.find((one) => one === value)
  if (found === undefined) throw new SimulatorError(`${name} is one of: ${values.join(', ')}.`)
  return found
}
