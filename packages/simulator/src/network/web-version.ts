import { DEFAULT_CONNECTION_CONFIG, type proto } from 'baileys'

export const refusers = ['login', 'phone'] as const
export const webPages = ['normal', 'changed', 'missing', 'endless'] as const

/** The version of WhatsApp Web, and what happens to clients with an older one. Kept in memory only. */
export type WebVersion = {
  /** The third part of the current version, which the page names. */
  revision: number
  /** Clients with an older revision are refused. 0: none are. */
  oldest_allowed: number
  /** `login`: their connections end with the failure 405. `phone`: only phones refuse to link them. */
  refused_by: (typeof refusers)[number]
  /** `changed`: without a revision. `missing`: 404. `endless`: a body that does not end. */
  page: (typeof webPages)[number]
}

const [primary, secondary, pinnedRevision] = DEFAULT_CONNECTION_CONFIG.version

/** What Baileys says of itself is current. */
export function makeWebVersion(): WebVersion {
  return { revision: pinnedRevision, oldest_allowed: 0, refused_by: 'login', page: 'normal' }
}

export type ClientVersion = [primary: number, secondary: number, tertiary: number]

export function clientVersionOf({ userAgent }: proto.IClientPayload): ClientVersion {
  const { appVersion } = userAgent ?? {}
  return [appVersion?.primary ?? 0, appVersion?.secondary ?? 0, appVersion?.tertiary ?? 0]
}

/** Says who refuses a client of this version, if anybody does. */
export function refuserOf(
  { oldest_allowed: oldest, refused_by: refuser }: WebVersion,
  version: ClientVersion,
): WebVersion['refused_by'] | undefined {
  if (oldest === 0) return undefined
  const allowed = [primary, secondary, oldest]
  const index = version.findIndex((part, place) => part !== allowed[place])
  return index >= 0 && (version[index] ?? 0) < (allowed[index] ?? 0) ? refuser : undefined
}
