import { filenameOfDisposition } from './content-disposition.ts'

/** What is said of a file by those who sent it. See `weighType` for what each is worth. */
export type FileSayings = { names: string[]; claims: string[]; hints: string[] }

/** By the answer of a host, and by the addresses that led to it, the last one first. */
export function sayingsOfHost(
  headers: { 'content-type'?: string | undefined; 'content-disposition'?: string | undefined },
  urls: string[],
): FileSayings {
  return {
    names: present(filenameOfDisposition(headers['content-disposition'])),
    claims: present(headers['content-type']),
    hints: urls.flatMap((url) => present(nameInUrl(url))),
  }
}

const present = (value: string | undefined) => (value ? [value] : [])

/** Left as in the URL if it cannot be decoded. */
function nameInUrl(url: string): string | undefined {
  const name = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
