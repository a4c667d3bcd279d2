// Loaded into the workers of a test: their clock is ahead by so many milliseconds.
const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0)
const now = Date.now
const nowAhead = () => now() + aheadMs

globalThis.Date = new Proxy(Date, {
  construct: (target, given) => Reflect.construct(target, given.length === 0 ? [nowAhead()] : given),
  get: (target, name) => (name === 'now' ? nowAhead : Reflect.get(target, name)),
})
