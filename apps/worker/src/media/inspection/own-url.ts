import { extname } from 'node:path'

/** The file beside a module that is a program of its own: `.ts` from source, `.js` in what ships. */
export function ownUrl(moduleUrl: string, name: string): URL {
  return new URL(`./${name}${extname(moduleUrl)}`, moduleUrl)
}
