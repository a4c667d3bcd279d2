import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

const scripts = [
  'page.js',
  'api.js',
  'dom.js',
  'phones.js',
  'refusals.js',
  'conversation.js',
  'media.js',
  'scan.js',
  'mailbox.js',
]
const styles = ['page.css', 'columns.css', 'conversation.css', 'scan.css', 'mailbox.css']
const files = new Map([
  ['/', 'index.html'],
  ['/mailbox.html', 'mailbox.html'],
  ...[...scripts, ...styles].map((name) => [`/${name}`, name] as const),
])

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; media-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Serves the page for people. False when the path is not one of its files. */
export async function servePage(path: string, response: ServerResponse): Promise<boolean> {
  const name = files.get(path)
  if (!name) return false
  const body = await readFile(new URL(`../../page/${name}`, import.meta.url))
  const type = types[name.slice(name.lastIndexOf('.') + 1)]
  response.writeHead(200, { ...headers, 'content-type': type }).end(body)
  return true
}
