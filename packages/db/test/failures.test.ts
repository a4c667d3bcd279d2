import postgres from 'postgres'
import { describe, expect, test } from 'vitest'
import { databaseFailure, isOutage, isRefusedContent } from '../src/failures.ts'

const ofPostgres = (code: string) => Object.assign(new postgres.PostgresError(code), { code })
const ofSystem = (code: string) => Object.assign(new Error(code), { code })

describe('a failure', () => {
  test.each<[string, Error]>([
    ['a read-only transaction', ofPostgres('25006')],
    ['a changed password', ofPostgres('28P01')],
    ['a role that may not log in', ofPostgres('28000')],
    ['a database that does not exist', ofPostgres('3D000')],
    ['rights that are not granted yet', ofPostgres('42501')],
    ['a table that does not exist yet', ofPostgres('42P01')],
    ['a partition that does not exist', ofPostgres('23514')],
    ['an I/O error', ofPostgres('58030')],
    ['a missing file', ofPostgres('58P01')],
    ['an internal error', ofPostgres('XX000')],
    ['a corrupt index', ofPostgres('XX002')],
    ['an error that does not exist yet', ofPostgres('ZZ999')],
    ['a certificate that has expired', ofSystem('CERT_HAS_EXPIRED')],
    ['an unknown certificate', ofSystem('DEPTH_ZERO_SELF_SIGNED_CERT')],
    ['a certificate of another host', ofSystem('ERR_TLS_CERT_ALTNAME_INVALID')],
    ['a password that is checked wrongly', ofSystem('SASL_SIGNATURE_MISMATCH')],
    ...[
      'EMFILE',
      'ENFILE',
      'EADDRNOTAVAIL',
      'ENOBUFS',
      'EHOSTDOWN',
      'ENETDOWN',
      'ECONNABORTED',
      'EPROTO',
    ].map((code): [string, Error] => [code, ofSystem(code)]),
    ['one of several addresses', new AggregateError([ofSystem('EACCES')])],
    ['one within another', new Error('Failed query', { cause: ofPostgres('25006') })],
  ])('is not of the content: %s', (_, error) => {
    expect([databaseFailure(error), isRefusedContent(error)]).toEqual(['unavailable', false])
  })

  test.each([
    ['U+0000', '22021'],
    ['a number that is too large', '22003'],
    ['a second row with the key', '23505'],
    ['a row that refers to none', '23503'],
    ['an id that no index can hold', '54000'],
  ])('is of the content: %s', (_, code) => {
    expect([databaseFailure(ofPostgres(code)), isRefusedContent(ofPostgres(code))]).toEqual([undefined, true])
  })

  test.each([
    ['an undefined value', ofSystem('UNDEFINED_VALUE')],
    ['a wrong argument', Object.assign(new TypeError('wrong'), { code: 'ERR_INVALID_ARG_TYPE' })],
    ['an assertion', ofSystem('ERR_ASSERTION')],
    ['one without a code', new Error('other')],
  ])('is a bug: %s', (_, error) => {
    expect([databaseFailure(error), isRefusedContent(error), isOutage(error)]).toEqual([
      undefined,
      false,
      false,
    ])
  })

  test('is storage when the disk is full, and waited for at a start only when it passes by itself', () => {
    expect(databaseFailure(ofPostgres('53100'))).toBe('storage_full')
    expect(['57P03', '53300', '28P01', '25006', '53100'].map((code) => isOutage(ofPostgres(code)))).toEqual([
      ...[true, true, false, false, false],
    ])
  })
})
