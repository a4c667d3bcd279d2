import { startDeadline } from '@wagate/runtime/deadline'
import type { Call } from '../calls/call.ts'
import { AppError } from '../errors/app-error.ts'
import type { FileRules, ReceivedFile } from '../http/receive-file.ts'
import { rateLimited } from '../limits/rate-limited.ts'

/** Less than the time of a request, so that the answer can tell what there was no room for. */
const waitMsMax = 3000

/**
 * Receives the file of a request once there is room for its bytes in the staging folder, which has it until it is removed.
 * Throws `rate_limited` when the account itself has used up the room of an account, otherwise `unavailable`.
 */
export async function stageUpload(call: Call, rules: FileRules): Promise<ReceivedFile> {
  const release = await takeRoom(call, Math.min(call.request.bodyBytes ?? rules.bytesMax, rules.bytesMax))
  try {
    const file = await call.request.receiveFile(rules)
    return { ...file, remove: () => file.remove().finally(release) }
  } catch (error) {
    release()
    throw error
  }
}

async function takeRoom({ context, principal, deadline }: Call, bytes: number): Promise<() => void> {
  const { uploadBytes } = context.media
  const account = String(principal.accountId)
  const wait = startDeadline(waitMsMax, deadline.signal)
  try {
    return await uploadBytes.acquire(account, bytes, wait.signal)
  } catch (cause) {
    if (uploadBytes.isShareUsedUp(account, bytes))
      throw rateLimited('file-uploads', 'Other uploads of the account are in progress. Try again later.', 5)
    const sentence = 'Too many uploads are in progress. Try again later.'
    throw new AppError('unavailable', sentence, { retryAfterSeconds: 5, cause })
  } finally {
    wait.release()
  }
}
