import { describe, expect, it } from 'vitest'
import { isSameSubscriber, maskPhone, parsePhone, phoneForms } from '../src/phone.ts'

describe('parsePhone', () => {
  it.each([
    ['4915112345678', '4915112345678'],
    ['+49 151 1234-5678', '4915112345678'],
    ['0049 (151) 1234.5678', '4915112345678'],
    ['1234567', '1234567'],
    ['123456789012345', '123456789012345'],
  ])('reads %s', (text, digits) => {
    expect(parsePhone(text)).toBe(digits)
  })

  it.each([
    '',
    '0151 1234567',
    '123456',
    '1234567890123456',
    '49151x2345678',
    '4915112345678@s.whatsapp.net',
    '٤٩١٥١١٢٣٤٥٦',
  ])('refuses %j', (text) => {
    expect(parsePhone(text)).toBeUndefined()
  })
})

describe('isSameSubscriber', () => {
  it.each([
    ['5511987654321', '551187654321'],
    ['5215512345678', '525512345678'],
    ['5491112345678', '541112345678'],
    ['4915112345678', '4915112345678'],
  ])('takes %s and %s for one', (dialled, linked) => {
    expect(isSameSubscriber(dialled, linked)).toBe(true)
    expect(isSameSubscriber(linked, dialled)).toBe(true)
  })

  it.each([
    ['4915112345678', '4915112345679'],
    ['5511987654321', '5521987654321'],
    ['4991512345678', '491512345678'],
  ])('tells %s from %s', (dialled, linked) => {
    expect(isSameSubscriber(dialled, linked)).toBe(false)
  })
})

it('masks the middle of a number', () => {
  expect(maskPhone('4915112345678')).toBe('491511****678')
})

it.each([
  ['5511987654321', ['5511987654321', '551187654321']],
  ['551187654321', ['551187654321', '5511987654321']],
  ['525512345678', ['525512345678', '5215512345678']],
  ['5491112345678', ['5491112345678', '541112345678']],
  ['4915112345678', ['4915112345678']],
])('%s has the forms %j', (digits, forms) => {
  expect(phoneForms(digits)).toEqual(forms)
})
