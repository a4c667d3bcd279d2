import { deleteOptOut, insertOptOut } from '../src/queries/contacts/opt-outs.ts'
import { announceDisconnections, setConnection } from '../src/queries/devices/device-connection.ts'
import {
  announceReplacedQr,
  endPairing,
  linkDevice,
  refuseLink,
  setPairingStep,
} from '../src/queries/devices/device-link.ts'
import { wipeCredentials } from '../src/queries/devices/device-removal.ts'
import { setNewChats, setRestriction } from '../src/queries/devices/device-restriction.ts'
import { postponeMedia, setMediaUnavailable } from '../src/queries/media/received-media.ts'
import { recordPhoneRead } from '../src/queries/messages/phone-reads.ts'
import { recordPhoneReceipts } from '../src/queries/messages/phone-receipts.ts'
import { endReadRequests, requestRead, requestReadOfChat } from '../src/queries/messages/read-requests.ts'
import { writeKeyOf } from '../src/queries/statements/write-keys.ts'
import { disableWebhook, recordRound } from '../src/queries/webhooks/webhook-rounds.ts'
import { pick, receivedId, type Step, type World } from './repeated-steps.ts'

const creds = { type: 'creds', id: '', value: Buffer.from('sealed') }

/** The fourth variant of what a contact writes has a file. */
const imageOf = (world: World, contact: number) => ({
  accountId: world.accountId,
  messageId: receivedId(world, 4, contact),
})

/** As `messageSteps`: writes of devices, of what is asked for, and of webhooks. */
export const deviceSteps: Record<string, Step> = {
  link(world, { turn }) {
    const { fence, deviceId } = world
    world.isLinked = true
    const link = { key: writeKeyOf('link', turn), desiredRev: 1, creds }
    return (db) => linkDevice(db, fence, deviceId, { ...link, waJid: '1@s.whatsapp.net', waLid: null })
  },
  refuse:
    ({ fence, deviceId }, { turn }) =>
    (db) =>
      refuseLink(db, fence, deviceId, {
        key: writeKeyOf('link', turn),
        desiredRev: 1,
        creds,
        reason: 'sender_mismatch',
      }),
  wipe:
    ({ fence, deviceId }) =>
    (db) =>
      wipeCredentials(db, fence, deviceId, 'logged_out'),
  passkey:
    ({ fence, deviceId }, { variant }) =>
    (db) =>
      setPairingStep(db, fence, deviceId, {
        desiredRev: 1,
        step: pick(['passkey_required', 'passkey_confirmation_required'] as const, variant),
        forMs: 60_000,
      }),
  endPairing:
    ({ fence, deviceId }) =>
    (db) =>
      endPairing(db, fence, deviceId, { desiredRev: 1, reason: 'qr_expired' }),
  replaceQr:
    ({ fence, deviceId }, { turn }) =>
    (db) =>
      announceReplacedQr(db, fence, deviceId, writeKeyOf('qr', turn)),
  connection({ fence, deviceId }, { variant }) {
    const changes = [
      { connection: 'online', reason: null },
      { connection: 'offline', reason: 'connection_lost' },
      { connection: 'offline', reason: 'temporarily_banned', hasGrace: false },
      { connection: 'scanning', reason: null },
      { connection: 'connecting', reason: null },
    ] as const
    return (db) => setConnection(db, fence, deviceId, pick(changes, variant))
  },
  disconnections:
    ({ fence }) =>
    (db) =>
      announceDisconnections(db, [fence], -60_000),
  restriction:
    ({ fence, deviceId }, { variant }) =>
    (db) =>
      setRestriction(
        db,
        fence,
        deviceId,
        variant % 2 ? { reason: 'reach_out_time_lock', forMs: 3_600_000 } : undefined,
      ),
  newChats:
    ({ fence, deviceId }, { variant }) =>
    (db) =>
      setNewChats(db, fence, deviceId, {
        used: variant,
        total: 4,
        isCapped: variant === 4,
        forMs: 3_600_000,
      }),
  optOut:
    ({ accountId, contacts }, { contact }) =>
    (db) =>
      insertOptOut(db, accountId, pick(contacts, contact)),
  optIn:
    ({ accountId, contacts }, { contact }) =>
    (db) =>
      deleteOptOut(db, accountId, pick(contacts, contact)),
  requestRead:
    (world, { variant, contact }) =>
    (db) =>
      requestRead(db, world.accountId, receivedId(world, variant, contact)),
  requestChat:
    ({ accountId, sender, contacts }, { contact }) =>
    (db) =>
      requestReadOfChat(db, accountId, { sender, key: pick(contacts, contact) }),
  readOnPhone({ fence, deviceId, contacts }, { contact, variant }) {
    const at = new Date().toISOString()
    const read = { waIds: [`R${variant}-${contact}`], number: pick(contacts, contact), contactJid: null, at }
    return (db) => recordPhoneRead(db, fence, deviceId, read)
  },
  phoneReceipt({ fence, deviceId, contacts }, { variant }) {
    const status = pick(['delivered', 'read', 'played'] as const, variant)
    const saidBy = { jid: `${pick(contacts, 0)}@s.whatsapp.net`, otherJid: null }
    const receipt = { fence, deviceId, waId: 'ON PHONE', status, at: new Date().toISOString(), saidBy }
    return (db) => recordPhoneReceipts(db, [receipt])
  },
  endRead:
    (world, { variant, contact }) =>
    (db) =>
      endReadRequests(db, world.fence, world.deviceId, {
        read: [receivedId(world, variant, contact)],
        dropped: [receivedId(world, variant + 1, contact)],
      }),
  postponeMedia:
    (world, { contact }) =>
    (db) =>
      postponeMedia(db, world.fence, { ...imageOf(world, contact), attempts: 0 }, 60_000),
  loseMedia:
    (world, { contact }) =>
    (db) =>
      setMediaUnavailable(db, world.fence, imageOf(world, contact), 'expired'),
  round({ lease }, { variant, turn }) {
    const attempt = { durationMs: 1, status: 500, error: null, answer: null, eventIds: ['evt_1'], attempt: 1 }
    const round = {
      key: writeKeyOf('round', turn),
      position: { epoch: 0, tx: String(turn), id: '1', seconds: 0 },
      parked: [{ attempts: 1, delayMs: 60_000, eventIds: [`evt_${turn}`] }],
      ...{ repeated: [], done: [], isBacklogFull: false, hasFailure: true },
      attempts: [{ ...attempt, number: turn + 1, deliveryId: `d${turn}` }],
      result: pick(['succeeded', 'failed'] as const, variant),
    }
    return (db) => recordRound(db, lease, round)
  },
  disable:
    ({ lease }) =>
    (db) =>
      disableWebhook(db, lease, 'gone'),
}
