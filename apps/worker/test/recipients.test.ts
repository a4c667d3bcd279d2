import { expect, it } from 'vitest'
import { makeRecipients } from '../src/outbox/recipients.ts'

it('asks WhatsApp once for each number, and remembers who is not there', async () => {
  const recipients = makeRecipients()
  const asked: string[][] = []
  const lookUp = async (numbers: string[]) => {
    asked.push(numbers)
    return new Map([['1', '1@s.whatsapp.net']])
  }
  expect(recipients.find('1')).toBeUndefined()
  await recipients.resolve(['1', '2'], lookUp)
  await recipients.resolve(['1', '2'], lookUp)
  expect(asked).toEqual([['1', '2']])
  expect(recipients.find('1')).toBe('1@s.whatsapp.net')
  expect(recipients.find('2')).toBeNull()
})

it('knows no more than before when WhatsApp does not answer', async () => {
  const recipients = makeRecipients()
  await expect(recipients.resolve(['1'], () => Promise.reject(new Error('away')))).rejects.toThrow('away')
  expect(recipients.find('1')).toBeUndefined()
})
