export type Instruction = { name: string; rest: string }

/** `from`: the name of an earlier stage, or of an image. */
export type Stage = { name: string; from: string; instructions: Instruction[] }

/** The stages of a Dockerfile in their order, with the defaults of its arguments filled in. */
export function parseDockerfile(text: string): Stage[] {
  const defaults = new Map<string, string>()
  const stages: Stage[] = []
  for (const { name, rest } of instructionsOf(text)) {
    const value = rest.replace(/\$\{(\w+)\}/g, (_whole, variable) => defaults.get(variable) ?? '')
    const stage = stages.at(-1)
    if (name === 'ARG' && !stage) {
      const [variable = '', ...parts] = value.split('=')
      defaults.set(variable, parts.join('='))
    } else if (name === 'FROM') {
      const [from = '', , as = ''] = value.split(/\s+/)
      stages.push({ name: as, from, instructions: [] })
    } else if (stage) {
      stage.instructions.push({ name, rest: value })
    } else {
      throw new Error(`The Dockerfile has ${name} before its first stage`)
    }
  }
  return stages
}

function instructionsOf(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, name, rest] = /^(\w+)\s+(.*)$/.exec(line.trim()) ?? []
      return name && rest !== undefined ? [{ name: name.toUpperCase(), rest }] : []
    })
}
