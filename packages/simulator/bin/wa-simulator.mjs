#!/usr/bin/env node
import { existsSync } from 'node:fs'

const built = new URL('../dist/cli.js', import.meta.url)

if (existsSync(built)) {
  await import(built.href)
} else {
  const { register } = await import('tsx/esm/api')
  register()
  await import('../src/cli.ts')
}
