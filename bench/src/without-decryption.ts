type Environment = (name: string) => NodeJS.ProcessEnv

/** The simulator accepts messages without decrypting them, because otherwise it would be the bottleneck. */
export function withoutDecryption(ofOthers: Environment): Environment {
  const probe = new URL('./probes/no-decryption.mjs', import.meta.url).href
  return (name) => (name === 'simulator' ? { NODE_OPTIONS: `--import ${probe}` } : ofOthers(name))
}
