/**
 * Imports a module of a package as `npm run build` has compiled it. Ends the process with a sentence before that.
 *
 * @param {string} path such as db/dist/migrate
 */
export async function loadCompiled(path) {
  const url = new URL(`../packages/${path}.js`, import.meta.url)
  return import(url.href).catch((/** @type {Error & {code?: string, url?: string}} */ error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || error.url !== url.href) throw error
    console.error('This command runs compiled code. Compile it first: npm run build')
    process.exit(1)
  })
}
