/** How many processes of each kept system run between two files, which `leaks.ts` does not count. */
export const keptProcesses = new Map<number, number>()
