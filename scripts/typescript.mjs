import { register } from 'node:module'

// Loaded with --import before a program of ours. From 22.18 Node runs TypeScript itself; before, hooks do the same
// with the same library. tsx does more than we need, and takes a third of the time that all our processes
// need to start.
const isBuiltIn = 'typescript' in process.features && process.features.typescript
if (!isBuiltIn) register('./typescript-hooks.mjs', import.meta.url)
