import { apiFaults } from './api.ts'
import { clockFaults } from './clock.ts'
import { describeTrials } from './suite.ts'
import { webhookFaults } from './webhooks.ts'
import { workerFaults } from './workers.ts'

describeTrials(workerFaults, apiFaults, clockFaults, webhookFaults)
