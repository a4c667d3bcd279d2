import { describe, expect, it } from 'vitest'
import { isSameSubscriber, maskPhone, parsePhone, phoneExpectation, phoneForms } from '../src/phone.ts'

describe('parsePhone', () => {
  it.each([
    ['4915112345678', '4915112345678'],
    ['+49 151 1234-5678', '4915112345678'],
    ['0049 (151) 1234.5678', '4915112345678'],
    ['(+49) 151 12345678', '4915112345678'],
    ['1234567', '1234567'],
    ['123456789012345', '123456789012345'],
    ['tel:+49-151-1234-5678', '4915112345678'],
    ['TEL: 004915112345678', '4915112345678'],
    // As WhatsApp Web shows them, and with the marks of other programs.
    ['\u202A+49 151 12345678\u202C', '4915112345678'],
    ['\u200E+49\u00A0151\u00A012345678\u200F', '4915112345678'],
    ['\u2066+49 151\u20691\u200B234\u20605678\uFEFF', '4915112345678'],
    ['\u202B+49\u202F151\u2009123\u00AD45678\u202C', '4915112345678'],
    ['+49\u2010151\u2011123\u201245\u20136\u22127\u20148', '4915112345678'],
    // Digits of other scripts.
    ['٤٩١٥١١٢٣٤٥٦', '49151123456'],
    ['۴۹۱۵۱۱۲۳۴۵۶', '49151123456'],
    ['+९१ ९८७६५ ४३२१०', '919876543210'],
    ['\uFF0B\uFF14\uFF19 \uFF08\uFF11\uFF15\uFF11\uFF09\uFF0D\uFF11\uFF12\uFF13\uFF14', '491511234'],
    ['𝟒𝟗𝟏𝟓𝟏𝟙𝟚𝟛𝟜𝟝', '4915112345'],
  ])('reads %s', (text, digits) => {
    expect(parsePhone(text)).toEqual({ digits })
  })

  it.each([
    ['', phoneExpectation],
    ['123456', phoneExpectation],
    ['x', phoneExpectation],
    ['+49 151 1x', phoneExpectation],
    ['1234567890123456', phoneExpectation],
    [' '.repeat(201), phoneExpectation],
    ['49151x2345678', 'Remove the character x (U+0078)'],
    ['4915112345678@s.whatsapp.net', 'Leave out @s.whatsapp.net'],
    ['4915112345678@c.us ', 'Leave out @c.us'],
    ['120363000000000000@g.us', 'groups are not supported'],
    ['120363000000000000@newsletter', 'Channels, lists and statuses are not supported'],
    ['status@broadcast', 'Channels, lists and statuses are not supported'],
    ['1000000000000017@lid', 'give its digits as lid'],
    ['someone@example.com', phoneExpectation],
    ['49151@12345678', 'Remove the character @ (U+0040)'],
    ['0151 1234567', 'Put the country prefix in place of the 0'],
    ['4915112345678 / 79', 'Remove the character / (U+002F)'],
    ['4915112345678¹', 'Remove the character ¹ (U+00B9)'],
    ['49151+1234567', 'Remove the character + (U+002B)'],
    ['49151\u00001234567', 'Remove the character U+0000'],
    ['49151\uD8001234567', 'Remove the character U+D800'],
    ['📞4915112345678', 'Remove the character 📞 (U+1F4DE)'],
    ['\u202E8765432115194', 'Remove the character U+202E, which reverses its digits'],
    ['+49 (0) 151 1234567', 'Leave out (0)'],
  ])('refuses %j', (text, fault) => {
    const shown = fault === phoneExpectation ? fault : expect.stringContaining(fault)
    expect(parsePhone(text)).toEqual({ fault: shown })
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
