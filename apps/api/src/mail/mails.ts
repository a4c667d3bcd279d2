/** A mail to one person. Its text contains nothing that anybody has typed. */
export type Mail = {
  to: string
  subject: string
  text: string
  /** For the metric. */
  kind: string
}

/** The texts of all mails. `link` opens a page, which asks for a click before it uses the link. */

export const confirmSignUp = (to: string, link: string): Mail => ({
  to,
  kind: 'sign-up',
  subject: 'Confirm your email address',
  text: `Someone, probably you, has asked for an account on this gateway with this email address.

Open this link to choose a password and to get your API key. It works once, within 24 hours:

${link}

If it was not you, ignore this mail: without the link there will be no account.
`,
})

export const alreadyHasAccount = (to: string, signIn: string, forgotten: string): Mail => ({
  to,
  kind: 'sign-up',
  subject: 'You already have an account',
  text: `Someone, probably you, has asked for an account on this gateway with this email address. You already have one.

Sign in: ${signIn}
If you do not know your password: ${forgotten}

If it was not you, ignore this mail.
`,
})

export const invitation = (to: string, link: string): Mail => ({
  to,
  kind: 'invitation',
  subject: 'You are invited to a WhatsApp gateway',
  text: `The operator of this gateway invites you. With an account, your programs can send WhatsApp messages.

Open this link to choose a password and to get your API key. It works once, within 7 days:

${link}

If you do not expect this, ignore this mail.
`,
})

export const newPassword = (to: string, link: string): Mail => ({
  to,
  kind: 'new-password',
  subject: 'Choose a new password',
  text: `Someone, probably you, has asked for a new password for your account on this gateway.

Open this link to choose a new one. It works once, within an hour:

${link}

If it was not you, ignore this mail: your password stays as it is.
`,
})

export const passwordChanged = (to: string, forgotten: string): Mail => ({
  to,
  kind: 'password-changed',
  subject: 'Your password has been changed',
  text: `The password of your account on this gateway has been changed, and all browsers are signed out. API keys still work.

If it was not you, choose a new password now, and revoke any API keys that you do not recognise:

${forgotten}
`,
})

export const confirmNewEmail = (to: string, link: string): Mail => ({
  to,
  kind: 'new-email',
  subject: 'Confirm your new email address',
  text: `Someone, probably you, wants to use this email address for an account on this gateway.

Open this link to confirm it. It works once, within an hour:

${link}

If it was not you, ignore this mail: nothing changes.
`,
})

export const emailTaken = (to: string): Mail => ({
  to,
  kind: 'new-email',
  subject: 'You already have an account',
  text: `Someone, probably you, wants to use this email address for another account on this gateway. It already belongs to an account, so nothing changes.
`,
})

export const emailChanged = (to: string): Mail => ({
  to,
  kind: 'email-changed',
  subject: 'Your email address has been changed',
  text: `Your account on this gateway now has another email address. This one no longer belongs to it.

If it was not you, tell the operator of the gateway.
`,
})

export const accountWillBeDeleted = (to: string, due: Date): Mail => ({
  to,
  kind: 'deletion',
  subject: 'Your account will be deleted',
  text: `Your account on this gateway is disabled, and all its data will be deleted on ${due.toUTCString()}.

If it was not you, tell the operator of the gateway before then. Until then the deletion can be canceled.
`,
})
