import { setTimeout as delay } from 'node:timers/promises'
import type { Pairing } from '../network/pairing.ts'
import type { Device, Phone } from '../network/phone.ts'
import { SimulatorError } from '../network/simulator-error.ts'
import { node } from '../wire/node.ts'
import { notifyPairing } from './notify-pairing.ts'
import { offerLink } from './offer-link.ts'

export const retireType = 'companion_reg_refresh'
/** A companion shows the QR code with the new secret, and then acknowledges. */
const acknowledgeMsMax = 5000
/** From the moment in which a program or a person sees a code until it is scanned. */
const scanMs = 1000

/** WhatsApp retires the secret of a companion. QR codes that were scanned until now link nothing any more. */
export function retireSecret(pairing: Pairing): void {
  const { scanned, retired } = pairing.secrets
  for (const secret of scanned) retired.add(secret)
  notifyPairing(pairing, retireType, [node(retireType, {})])
}

/** The same before a phone has scanned, if that is how WhatsApp links this companion. */
export function retireBeforeScan(pairing: Pairing): void {
  if (pairing.refresh === 'before_scan' || pairing.refresh === 'both') retireSecret(pairing)
}

/** The same once a phone has scanned, or its person has typed a code or used a passkey. */
export function retireAfterScan(pairing: Pairing): void {
  if (pairing.refresh === 'after_scan' || pairing.refresh === 'both') retireSecret(pairing)
}

/**
 * As `offerLink`, with a secret that the companion has told the phone: it proves the link with it also if WhatsApp retires
 * the one of the QR codes at the last moment.
 */
export function proveLink(pairing: Pairing, phone: Phone, secret: string): Promise<Device> {
  retireAfterScan(pairing)
  return offerLink(pairing, phone, secret)
}

/**
 * Rejects for a QR code with a retired secret, and for one that may have been read from the screen before the companion had
 * acknowledged that. Afterwards it shows another code, which the person scans.
 */
export async function checkSecret(pairing: Pairing, secret: string): Promise<void> {
  const { scanned, retired } = pairing.secrets
  const isFirst = scanned.size === 0
  scanned.add(secret)
  if (isFirst) retireAfterScan(pairing)
  const awaited = [...pairing.notified.values()].filter((notified) => notified.type === retireType)
  const isOld = retired.has(secret) || performance.now() < pairing.secrets.newFromMs
  if (awaited.length === 0 && !isOld) return
  const acknowledged = Promise.all(awaited.map((notified) => notified.acknowledged))
  await Promise.race([acknowledged, delay(acknowledgeMsMax, undefined, { ref: false })])
  await delay(pairing.secrets.newFromMs - performance.now(), undefined, { ref: false })
  throw new SimulatorError(
    "Couldn't link device. WhatsApp has retired the secret of this QR code. Scan the current one.",
  )
}

/** The companion has acknowledged that its secret is retired. */
export function noteNewSecret({ secrets }: Pairing): void {
  secrets.newFromMs = performance.now() + scanMs
}
