/** Phone numbers that are not assigned. */
export const recipientsPerSender = 5

export function senderNumbers(count: number, group = 1): string[] {
  return Array.from({ length: count }, (_, index) => String(15_550_000_000 + group * 100_000 + index))
}

/** Each sender has its own recipients. */
export function recipientOf(sender: string, index: number): string {
  return `${Number(sender) + 5_000_000}${index % recipientsPerSender}`
}
