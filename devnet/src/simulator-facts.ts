/** The first line of the simulator's output. */
export type SimulatorFacts = { socketUrl: string; rootKey: string; mediaHost: string; controlUrl: string }

export function parseSimulatorFacts(line: string): SimulatorFacts | undefined {
  if (!line.startsWith('{') || !line.includes('"socketUrl"')) return undefined
  const { socketUrl, rootKey, mediaHost, controlUrl } = JSON.parse(line)
  return { socketUrl, rootKey, mediaHost, controlUrl }
}

/** The settings by which a worker speaks to the simulated network. */
export function simulatorEnvironment(facts: SimulatorFacts): NodeJS.ProcessEnv {
  return {
    WHATSAPP_SOCKET_URL: facts.socketUrl,
    WHATSAPP_ROOT_KEY: facts.rootKey,
    WHATSAPP_MEDIA_HOST: facts.mediaHost,
  }
}
