/** What every start function returns. `close` stops it cleanly and is safe to call twice. */
export type Running = { close(): Promise<void> }
