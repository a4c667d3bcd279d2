import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { repository } from '@wagate/devnet/app-process'

/** Every Markdown page of the repository, by its path from the root. */
export function readPages(): Map<string, string> {
  return new Map(pathsIn(repository).map((path) => [relative(repository, path), readFileSync(path, 'utf8')]))
}

function pathsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(\.|node_modules$|dist$)/.test(entry.name) ? [] : pathsIn(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

const fence = /^[ \t]*```(\w*)\n(.*?)^[ \t]*```$/gms

type CodeBlock = { language: string; text: string }

export function codeBlocksOf(page: string): CodeBlock[] {
  return [...page.matchAll(fence)].map(([, language = '', text = '']) => ({ language, text }))
}

export function withoutCodeBlocks(page: string): string {
  return page.replaceAll(fence, '')
}

/** What is written in backticks within a line or a paragraph. */
export function inlineCodeOf(page: string): string[] {
  return [...withoutCodeBlocks(page).matchAll(/`([^`]+)`/g)].map(([, code = '']) =>
    code.replaceAll(/\s+/g, ' '),
  )
}
