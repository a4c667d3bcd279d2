import { linkFaults } from './links.ts'
import { mediaFaults } from './media.ts'
import { mixedFaults } from './mix.ts'
import { postgresFaults } from './postgres.ts'
import { postgresWriteFaults } from './postgres-writes.ts'
import { redisFaults } from './redis.ts'
import { standbyFaults } from './standby-promotion.ts'
import { streamFaults } from './streams.ts'
import { describeTrials } from './suite.ts'
import { whatsappFaults } from './whatsapp.ts'

describeTrials(
  redisFaults,
  postgresFaults,
  postgresWriteFaults,
  standbyFaults,
  linkFaults,
  whatsappFaults,
  streamFaults,
  mediaFaults,
  mixedFaults,
)
