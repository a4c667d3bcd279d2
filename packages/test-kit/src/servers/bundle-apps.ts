import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { repository } from '@wagate/devnet/app-process'
import { build, type Plugin } from 'esbuild'

/** What each program consists of, besides what it imports. */
const programs = {
  'apps/api': ['main', 'start', 'cli'],
  'apps/worker': [
    'main',
    'start',
    'cli',
    'preload',
    'media/inspection/inspection-main',
    'media/inspection/inspection-thread',
  ],
  'packages/simulator': ['cli'],
}

/** Packages with native code, and one in CommonJS whose names esbuild does not see in `import()`. */
const loadedByNode = ['sharp', '@node-rs/argon2', 'msgpackr-extract', '@zxcvbn-ts/language-common']

/**
 * Bundles API, worker and simulator from source, laid out as in the image (`<folder>/apps/api/dist/main.js`). They start
 * with a quarter of the CPU time that they need from source. The folder appears when it is complete.
 */
export async function bundleApps(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  await Promise.all(
    Object.entries(programs).map(([program, entries]) => {
      const urls = ownUrls(join(repository, program, 'src'), join(folder, program, 'dist'))
      return bundle(program, entries, unfinished, urls)
    }),
  )
  await rename(unfinished, folder)
}

async function bundle(program: string, entries: string[], folder: string, urls: Plugin): Promise<void> {
  const source = join(repository, program)
  const target = join(folder, program)
  await mkdir(target, { recursive: true })
  const links = (await readdir(source)).filter((name) => !['src', 'dist', 'test'].includes(name))
  await Promise.all(links.map((name) => symlink(join(source, name), join(target, name))))
  await build({
    entryPoints: entries.map((entry) => join(source, 'src', `${entry}.ts`)),
    outbase: join(source, 'src'),
    outdir: join(target, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['source'],
    external: loadedByNode,
    // CommonJS packages call it.
    banner: {
      js: "import { createRequire as require_ } from 'node:module'; const require = require_(import.meta.url);",
    },
    logLevel: 'error',
    plugins: [urls, changedFromOutside],
  })
}

/** Modules find files beside themselves by `import.meta.url`, which would be that of the bundle. */
function ownUrls(source: string, target: string): Plugin {
  return {
    name: 'own-urls',
    setup({ onLoad }) {
      onLoad({ filter: /\/(apps|packages)\/[^/]+\/src\/.*\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        if (!text.includes('import.meta.url')) return undefined
        const within = relative(source, path)
        const isOwn = !within.startsWith(`..${sep}`)
        const place = isOwn ? join(target, within).replace(/\.ts$/, '.js') : path
        const url = JSON.stringify(pathToFileURL(place).href)
        return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' }
      })
    },
  }
}

/**
 * What is changed from outside, by the preload of the worker and by a test, is where Node loads it: a bundle of it would be
 * another copy.
 */
const changedFromOutside: Plugin = {
  name: 'changed-from-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^libsignal(\/|$)|\/WAProto\/index\.js$/ }, ({ path, importer }) => ({
      path: pathToFileURL(createRequire(importer).resolve(path)).href,
      external: true,
    }))
  },
}
