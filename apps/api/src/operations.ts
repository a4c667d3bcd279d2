import type { Operation } from './operation.ts'
import { createDevice } from './operations/create-device.ts'
import { createUser } from './operations/create-user.ts'
import { devices } from './operations/devices.ts'
import { generateQr } from './operations/generate-qr.ts'
import { infoDevice } from './operations/info-device.ts'
import { logoutDevice } from './operations/logout-device.ts'
import { messages } from './operations/messages.ts'
import { sendMedia } from './operations/send-media.ts'
import { sendMessage } from './operations/send-message.ts'
import { userInfo } from './operations/user-info.ts'

/** All that the API does. Routes, methods, parameters and their description follow from this table. */
export const operations: Operation[] = [
  sendMessage,
  sendMedia,
  generateQr,
  logoutDevice,
  createUser,
  userInfo,
  infoDevice,
  createDevice,
  devices,
  messages,
]
