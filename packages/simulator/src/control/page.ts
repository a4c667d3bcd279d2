import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'

const files: Record<string, { name: string; type: string }> = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/page.css': { name: 'page.css', type: 'text/css; charset=utf-8' },
  '/page.js': { name: 'page.js', type: 'text/javascript; charset=utf-8' },
}

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Serves the page for people; false if the path is none of its files. */
export async function servePage(path: string, response: ServerResponse): Promise<boolean> {
  const file = files[path]
  if (!file) return false
  const body = await readFile(new URL(`../../page/${file.name}`, import.meta.url))
  response.writeHead(200, { ...headers, 'content-type': file.type }).end(body)
  return true
}
