import { fileOf, type PageFile, pageTypes } from '../http/page-file.ts'

const scripts = ['link.js', 'follow-pairing.js', 'gateway.js', 'passkey.js', 'sentences.js', 'view.js']

/** Beside `src` and `dist`, so that both find it. */
const pageFile = (type: string, name: string) => fileOf(type, new URL(`../../page/${name}`, import.meta.url))

const html = pageFile(pageTypes.html, 'index.html')

/** The page on which a person links a sender. It needs no build step. */
export const linkFiles: Record<string, PageFile> = {
  '/link': html,
  '/link/': html,
  '/link/link.css': pageFile(pageTypes.css, 'link.css'),
  ...Object.fromEntries(scripts.map((name) => [`/link/${name}`, pageFile(pageTypes.js, name)])),
}
