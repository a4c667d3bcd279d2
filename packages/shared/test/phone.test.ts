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
    ['2250707123456', '22507123456'],
    ['2250544123456', '22544123456'],
    ['2290190123456', '22990123456'],
    ['4915112345678', '4915112345678'],
  ])('takes %s and %s for one', (dialled, linked) => {
    expect(isSameSubscriber(dialled, linked)).toBe(true)
    expect(isSameSubscriber(linked, dialled)).toBe(true)
  })

  it.each([
    ['4915112345678', '4915112345679'],
    ['5511987654321', '5521987654321'],
    ['4991512345678', '491512345678'],
    // A landline, and a mobile number that was given out with nine digits.
    ['551132654321', '5511932654321'],
    ['5511932654321', '551132654321'],
    ['552255512345', '5522955512345'],
    // No number of Brazil, Mexico or Argentina begins so.
    ['5501987654321', '550187654321'],
    ['5211512345678', '521512345678'],
    ['5498001234567', '548001234567'],
    // Ivory Coast: the digits of another operator, and a number that was given out with ten digits.
    ['2250507123456', '22507123456'],
    ['2250718139912', '22518139912'],
    ['2250190123456', '2250590123456'],
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
  ['2250707123456', ['2250707123456', '22507123456']],
  ['22990123456', ['22990123456', '2290190123456']],
  ['551132654321', ['551132654321']],
  ['5511932654321', ['5511932654321']],
  ['4915112345678', ['4915112345678']],
  ['551234567@lid', ['551234567@lid']],
])('%s has the forms %j', (digits, forms) => {
  expect(phoneForms(digits)).toEqual(forms)
})
