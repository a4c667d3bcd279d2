import { eventLoopSampleMs } from '@wagate/runtime/event-loop-sample-ms'
import { type RestrictionReason, restrictionReasons } from '@wagate/shared/statuses'
import { type WaitingReason, waitingReasons } from '@wagate/shared/waiting-reasons'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The metrics of this process. Labels have few, known values: never a phone number, a message or a key. */
export type Metrics = ReturnType<typeof makeMetrics>

/** Values that are read at each scrape. */
export type Readings = {
  leaseValid: boolean
  ownedShards: number
  linkedDevices: number
  onlineDevices: number
  unplacedShards: number
  oversizedShards: number
  waitingDevices: number
  /** By the reason of their status. */
  blockedDevices: ReadonlyMap<string, number>
  restrictedDevices: Partial<Record<RestrictionReason, number>>
  usedUpBudgets: number
}

/** What waits for the devices of this worker. `oldestMs`: for how long the oldest message waits that is due. */
export type Waits = { messages: ReadonlyMap<WaitingReason, number>; oldestMs: number }

export function makeMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopSampleMs })
  const counter = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name: `wagate_${name}`, help, labelNames, registers })

  return {
    registry,
    sends: counter('sends_total', 'Attempts to send a message, by what came of them', ['result']),
    refusals: counter('refusals_total', 'Messages that WhatsApp refused, by its error code', ['code']),
    restrictions: counter(
      'restrictions_total',
      'Times that WhatsApp restricted messages of a sender to new contacts, by reason',
      ['reason'],
    ),
    failures: counter('messages_failed_total', 'Messages that ended as failed, by error code', ['code']),
    acknowledgeSeconds: new Histogram({
      name: 'wagate_send_acknowledge_seconds',
      help: 'From handing a message to the connection until WhatsApp acknowledged it',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers,
    }),
    receipts: counter('receipts_total', 'Receipts of recipients', ['kind']),
    unknownOutcomes: counter(
      'outcomes_unknown_total',
      'Acknowledgements and failures whose message is not in the database',
    ),
    received: counter('messages_received_total', 'Messages that came in'),
    receivedCleaned: counter(
      'messages_received_cleaned_total',
      'Received messages that were stored without the parts that the database cannot store',
    ),
    receivedUnavailable: counter(
      'messages_unavailable_total',
      'Received messages without their content, by reason: kept from companions, not decrypted, or of an unknown kind',
      ['reason'],
    ),
    receivedDropped: counter(
      'messages_received_dropped_total',
      'Received messages that could not be stored in any form',
    ),
    receivedMedia: counter(
      'received_media_total',
      'Downloads of files of received messages, by what came of them: stored, retry, or why the file is not available',
      ['result'],
    ),
    offlineStalls: counter(
      'offline_queue_stalls_total',
      'Times that WhatsApp stopped delivering what had waited for a sender',
    ),
    linkingRefreshes: counter(
      'linking_refreshes_total',
      'Times that WhatsApp retired the secret of a QR code that was shown, and a new one took its place',
    ),
    logins: counter('logins_total', 'Connections to WhatsApp that were opened'),
    disconnects: counter('disconnects_total', 'Connections that WhatsApp or the network ended, by code', [
      'code',
    ]),
    lostShards: counter('shards_lost_total', 'Shards dropped because a write found another owner'),
  }
}

const refusalCodes = ['400', '404', '408', '421', '429', '463', '475', '479', '500', '503']

/** Labels have few values, and WhatsApp chooses the code. */
export function refusalLabel(code: string): string {
  return refusalCodes.includes(code) ? code : 'other'
}

/** Gauges are read at each scrape, so that none is out of date. */
export function addGauges({ registry }: Metrics, read: () => Readings): void {
  const gauge = (name: string, help: string, value: (readings: Readings) => number) =>
    new Gauge({
      name: `wagate_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(value(read()))
      },
    })
  gauge('lease_valid', '1 while this worker may send for its shards', ({ leaseValid }) => Number(leaseValid))
  gauge('owned_shards', 'Shards of this worker', ({ ownedShards }) => ownedShards)
  gauge('linked_devices', 'Linked devices of this worker', ({ linkedDevices }) => linkedDevices)
  gauge('online_devices', 'Devices of this worker that can send now', ({ onlineDevices }) => onlineDevices)
  gauge(
    'no_capacity_shards',
    'Shards that no worker has capacity for: start another worker',
    ({ unplacedShards }) => unplacedShards,
  )
  gauge(
    'oversized_shards',
    'Shards of this worker with more linked devices than WORKER_CAPACITY',
    ({ oversizedShards }) => oversizedShards,
  )
  gauge(
    'waiting_devices',
    'Devices of this worker with messages to send, at the last poll',
    ({ waitingDevices }) => waitingDevices,
  )
  gauge(
    'new_contact_budgets_used_up',
    'Devices of this worker that may write to no further new contacts today',
    ({ usedUpBudgets }) => usedUpBudgets,
  )
  new Gauge({
    name: 'wagate_blocked_devices',
    help: 'Devices of this worker that WhatsApp does not let log in, by reason, at the last poll',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [reason, count] of read().blockedDevices) this.set({ reason }, count)
    },
  })
  new Gauge({
    name: 'wagate_restricted_devices',
    help: 'Devices of this worker that may write to no new contacts, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      const { restrictedDevices } = read()
      for (const reason of restrictionReasons) this.set({ reason }, restrictedDevices[reason] ?? 0)
    },
  })
}

/** Read once a scrape, because all messages that were read are looked at. */
export function addWaitingGauges({ registry }: Metrics, read: () => Waits): void {
  new Gauge({
    name: 'wagate_oldest_waiting_seconds',
    help: 'For how long the oldest message of this worker waits that is due',
    registers: [registry],
    collect() {
      this.set(read().oldestMs / 1000)
    },
  })
  new Gauge({
    name: 'wagate_waiting_messages',
    help: 'Messages of this worker that are due and wait, by reason: of a long queue, up to 2000 for each device',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      const { messages } = read()
      for (const reason of dueReasons) this.set({ reason }, messages.get(reason) ?? 0)
    },
  })
}

const dueReasons = (Object.keys(waitingReasons) as WaitingReason[]).filter((reason) => reason !== 'scheduled')

/** If it stays below four, partitions cannot be created; below zero, no message can be accepted. */
export function addPartitionGauge({ registry }: Metrics, read: () => number | undefined): void {
  new Gauge({
    name: 'wagate_message_partitions_ahead_weeks',
    help: 'Whole weeks from now whose messages can be stored: 8 is normal, alert below 4, -1 means that none can now',
    registers: [registry],
    collect() {
      this.set(read() ?? Number.NaN)
    },
  })
}

/** An old version is refused by phones, without an error that the gateway could see. */
export function addVersionAgeGauge({ registry }: Metrics, read: () => number): void {
  new Gauge({
    name: 'wagate_whatsapp_version_age_days',
    help: 'Days since the version of WhatsApp Web that senders log in as was known to be the present one: alert above 30',
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}
