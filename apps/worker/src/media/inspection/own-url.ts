import { extname } from 'node:path'

/** The URL of a program next to a module: `.ts` when run from source, `.js` in the build. */
export function ownUrl(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${extname(moduleUrl)}`, moduleUrl)
}
