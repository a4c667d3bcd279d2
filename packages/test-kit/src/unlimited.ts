/** Settings of a system that sends without a pace and refuses no request for its rate. */
export const unlimited = {
  SEND_RATE_PER_MINUTE: '0',
  SEND_RECIPIENT_INTERVAL_MS: '0',
  NEW_CONTACTS_PER_DAY: '0',
  LIMIT_REQUESTS_PER_SECOND: '0',
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '0',
  LIMIT_QR_CODES_PER_MINUTE: '0',
  LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '0',
  LIMIT_ACCOUNT_PAIR_CODES_PER_DAY: '0',
  LIMIT_ACCOUNT_CHANGES_PER_DAY: '0',
}
