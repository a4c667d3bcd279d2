import { fileOf, type PageFile, pageTypes } from './http/page-file.ts'

/** Beside `src` and `dist`, so that both find it. It needs no build step. */
const folder = new URL('../page/', import.meta.url)

function pageFile(path: string): PageFile {
  const type = path.endsWith('.html') ? pageTypes.html : path.endsWith('.css') ? pageTypes.css : pageTypes.js
  return fileOf(type, new URL(path, folder))
}

const linkPage = pageFile('link/index.html')

/** What the pages consist of, by URL, and the page on which a person links a sender. */
export const pageFiles: Record<string, PageFile> = {
  '/link': linkPage,
  '/link/': linkPage,
  ...Object.fromEntries(
    [
      ...['gateway.js', 'page.css', 'view.js'].map((name) => `shared/${name}`),
      ...['link.css', 'link.js', 'follow-pairing.js', 'passkey.js', 'sentences.js', 'view.js'].map(
        (name) => `link/${name}`,
      ),
    ].map((path) => [`/${path}`, pageFile(path)]),
  ),
}
