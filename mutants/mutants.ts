import { accessMutants } from './access-mutants.ts'
import { eventMutants } from './event-mutants.ts'
import { mediaMutants } from './media-mutants.ts'
import { messagesMutants } from './messages-mutants.ts'
import type { Mutant } from './mutant.ts'
import { ownershipMutants } from './ownership-mutants.ts'
import { receivingMutants } from './receiving-mutants.ts'
import { sendingMutants } from './sending-mutants.ts'

export const mutants: Mutant[] = [
  ...ownershipMutants,
  ...sendingMutants,
  ...receivingMutants,
  ...messagesMutants,
  ...eventMutants,
  ...mediaMutants,
  ...accessMutants,
]
