import { accessMutants } from './access-mutants.ts'
import { accountMutants } from './account-mutants.ts'
import { claimMutants } from './claim-mutants.ts'
import { clientVersionMutants } from './client-version-mutants.ts'
import { commandMutants } from './command-mutants.ts'
import { contactMutants } from './contact-mutants.ts'
import { deviceEventMutants } from './device-event-mutants.ts'
import { epochMutants } from './epoch-mutants.ts'
import { eventMutants } from './event-mutants.ts'
import { historyMutants } from './history-mutants.ts'
import { inputMutants } from './input-mutants.ts'
import { limitMutants } from './limit-mutants.ts'
import { linkingMutants } from './linking-mutants.ts'
import { mediaMutants } from './media-mutants.ts'
import { messagesMutants } from './messages-mutants.ts'
import type { Mutant } from './mutant.ts'
import { operatorMutants } from './operator-mutants.ts'
import { ownershipMutants } from './ownership-mutants.ts'
import { pageMutants } from './page-mutants.ts'
import { phoneMutants } from './phone-mutants.ts'
import { processMutants } from './process-mutants.ts'
import { readingMutants } from './reading-mutants.ts'
import { receivingMutants } from './receiving-mutants.ts'
import { repetitionMutants } from './repetition-mutants.ts'
import { sendingMutants } from './sending-mutants.ts'
import { sessionMutants } from './session-mutants.ts'
import { signUpMutants } from './sign-up-mutants.ts'
import { simulatorMutants } from './simulator-mutants.ts'
import { stateMutants } from './state-mutants.ts'
import { uploadMutants } from './upload-mutants.ts'
import { volumeMutants } from './volume-mutants.ts'
import { waitingMutants } from './waiting-mutants.ts'
import { webhookMutants } from './webhook-mutants.ts'

export const mutants: Mutant[] = [
  ...ownershipMutants,
  ...claimMutants,
  ...commandMutants,
  ...sendingMutants,
  ...waitingMutants,
  ...volumeMutants,
  ...contactMutants,
  ...sessionMutants,
  ...signUpMutants,
  ...readingMutants,
  ...receivingMutants,
  ...phoneMutants,
  ...repetitionMutants,
  ...messagesMutants,
  ...eventMutants,
  ...epochMutants,
  ...deviceEventMutants,
  ...historyMutants,
  ...stateMutants,
  ...uploadMutants,
  ...webhookMutants,
  ...linkingMutants,
  ...clientVersionMutants,
  ...mediaMutants,
  ...accessMutants,
  ...inputMutants,
  ...accountMutants,
  ...limitMutants,
  ...pageMutants,
  ...processMutants,
  ...operatorMutants,
  ...simulatorMutants,
]
