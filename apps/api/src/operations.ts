import type { Operation } from './calls/operation.ts'
import { cancelMessage } from './operations/cancel-message.ts'
import { changeEmail } from './operations/change-email.ts'
import { changePassword } from './operations/change-password.ts'
import { checkNumber } from './operations/check-number.ts'
import { confirmEmail } from './operations/confirm-email.ts'
import { createDevice } from './operations/create-device.ts'
import { createKey } from './operations/create-key.ts'
import { createLink } from './operations/create-link.ts'
import { createStreamToken } from './operations/create-stream-token.ts'
import { createUser } from './operations/create-user.ts'
import { deleteAccount } from './operations/delete-account.ts'
import { deleteDevice } from './operations/delete-device.ts'
import { deleteUser } from './operations/delete-user.ts'
import { deleteWebhook } from './operations/delete-webhook.ts'
import { deletionProof } from './operations/deletion-proof.ts'
import { devices } from './operations/devices.ts'
import { endSession } from './operations/end-session.ts'
import { events } from './operations/events.ts'
import { eventsStream } from './operations/events-stream.ts'
import { exportAccount } from './operations/export-account.ts'
import { forgotPassword } from './operations/forgot-password.ts'
import { generateQr } from './operations/generate-qr.ts'
import { importOptIns } from './operations/import-opt-ins.ts'
import { importOptOuts } from './operations/import-opt-outs.ts'
import { infoDevice } from './operations/info-device.ts'
import { inviteUser } from './operations/invite-user.ts'
import { keys } from './operations/keys.ts'
import { logoutDevice } from './operations/logout-device.ts'
import { markRead } from './operations/mark-read.ts'
import { messageStatus } from './operations/message-status.ts'
import { messages } from './operations/messages.ts'
import { openLink } from './operations/open-link.ts'
import { optIn } from './operations/opt-in.ts'
import { optOut } from './operations/opt-out.ts'
import { optOuts } from './operations/opt-outs.ts'
import { pairCode } from './operations/pair-code.ts'
import { pairingStatus } from './operations/pairing-status.ts'
import { passkeyAssertion } from './operations/passkey-assertion.ts'
import { passkeyChallenge } from './operations/passkey-challenge.ts'
import { passkeyConfirm } from './operations/passkey-confirm.ts'
import { pauseSender } from './operations/pause-sender.ts'
import { queue } from './operations/queue.ts'
import { replayWebhook } from './operations/replay-webhook.ts'
import { resetPassword } from './operations/reset-password.ts'
import { restartSession } from './operations/restart-session.ts'
import { resumeSender } from './operations/resume-sender.ts'
import { revokeKey } from './operations/revoke-key.ts'
import { rotateWebhookSecret } from './operations/rotate-webhook-secret.ts'
import { sendMedia } from './operations/send-media.ts'
import { sendMessage } from './operations/send-message.ts'
import { sessions } from './operations/sessions.ts'
import { setDevice } from './operations/set-device.ts'
import { setWebhook } from './operations/set-webhook.ts'
import { signIn } from './operations/sign-in.ts'
import { signOut } from './operations/sign-out.ts'
import { signUp } from './operations/sign-up.ts'
import { statistics } from './operations/statistics.ts'
import { testWebhook } from './operations/test-webhook.ts'
import { updateUser } from './operations/update-user.ts'
import { uploadMedia } from './operations/upload-media.ts'
import { userInfo } from './operations/user-info.ts'
import { users } from './operations/users.ts'
import { webhookDeliveries } from './operations/webhook-deliveries.ts'
import { webhooks } from './operations/webhooks.ts'

/** Operations that a reader looks for together. A test compares them with the chapters of docs/guide.md. */
export type OperationGroup = { title: string; about: string; operations: Operation[] }

/** The whole API. Routes, methods, parameters and documentation are derived from these tables. */
export const operationGroups: OperationGroup[] = [
  {
    title: 'Link and manage senders',
    about: 'Link phones as senders, by QR code, pairing code or link, and follow their status',
    operations: [
      generateQr,
      pairingStatus,
      createLink,
      openLink,
      pairCode,
      createDevice,
      infoDevice,
      devices,
      setDevice,
      queue,
      pauseSender,
      resumeSender,
      passkeyChallenge,
      passkeyAssertion,
      passkeyConfirm,
      restartSession,
      logoutDevice,
      deleteDevice,
    ],
  },
  {
    title: 'Send messages',
    about: 'Send texts and files, and cancel what has not left',
    operations: [sendMessage, sendMedia, uploadMedia, cancelMessage, markRead, checkNumber],
  },
  {
    title: 'Follow messages',
    about: 'Read what became of messages, and what contacts wrote',
    operations: [messageStatus, messages, statistics, events, eventsStream, createStreamToken],
  },
  {
    title: 'Respect opt-outs',
    about: 'Keep a list of people who want no messages',
    operations: [optOut, optIn, importOptOuts, importOptIns, optOuts],
  },
  {
    title: 'Get events at a URL of yours',
    about: 'Webhooks: the gateway calls your program',
    operations: [
      setWebhook,
      webhooks,
      deleteWebhook,
      rotateWebhookSecret,
      testWebhook,
      webhookDeliveries,
      replayWebhook,
    ],
  },
  {
    title: 'Manage accounts and keys',
    about: 'Accounts, their API keys and their data',
    operations: [
      userInfo,
      keys,
      createKey,
      revokeKey,
      exportAccount,
      deleteAccount,
      deletionProof,
      createUser,
      users,
      updateUser,
      deleteUser,
    ],
  },
  {
    title: 'Sign up and in',
    about: 'Accounts of people with an email address and a password',
    operations: [
      signUp,
      confirmEmail,
      signIn,
      forgotPassword,
      resetPassword,
      signOut,
      sessions,
      endSession,
      changePassword,
      changeEmail,
      inviteUser,
    ],
  },
]

export const operations: Operation[] = operationGroups.flatMap((group) => group.operations)
