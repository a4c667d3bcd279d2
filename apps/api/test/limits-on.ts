/** The limits that an operator has who sets none: other tests switch them off. */
export const defaultLimits = {
  LIMIT_REQUESTS_PER_SECOND: '',
  LIMIT_REQUESTS_BURST: '',
  LIMIT_ACCOUNT_REQUESTS_PER_SECOND: '',
  LIMIT_ACCOUNT_REQUESTS_BURST: '',
  LIMIT_FAILED_KEYS_PER_MINUTE: '',
  LIMIT_NEW_USERS_PER_MINUTE: '',
  LIMIT_QR_CODES_PER_MINUTE: '',
  LIMIT_ACCOUNT_QR_CODES_PER_MINUTE: '',
}
