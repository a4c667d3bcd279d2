import { isNumber } from '../network/jid.ts'
import { SimulatorError } from '../network/simulator-error.ts'

export function checkNumber(number: string): string {
  if (!isNumber(number)) throw new SimulatorError('A number has 5 to 15 digits, without +.')
  return number
}
