import type { Operation } from '../calls/operation.ts'
import type { HealthCheck } from '../health/health-checks.ts'
import type { OperationGroup } from '../operations.ts'
import { makeDocument } from './document.ts'
import { introduction } from './introduction.ts'
import type { OpenApiOperation, OpenApiPath } from './openapi-types.ts'

/** Markdown ends an element at an empty line and continues after it. */
const shortIntroduction = `Click **Authorize**, enter your API key, then open an operation and click **Try it out**.

Most operations take GET and POST. This page shows the way that suits each: POST if it changes something, else GET. The
[complete document](/openapi.json) has both, every error and every event, and clients are generated from it.

<details><summary>Rules of every operation</summary>

${introduction}

</details>`

/**
 * The document for the page that people read: one way of each operation, error codes in a sentence, and no events. It has
 * a fifth of the size, so the page is ready sooner.
 */
export function makePageDocument(groups: OperationGroup[], checks: HealthCheck[]): object {
  const document = makeDocument(groups, checks)
  const operations = groups.flatMap((group) => group.operations)
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operation = operations.find(({ name }) => path === `/${name}`)
    return [path, operation ? preferredWay(operation, item) : withoutErrors(item)]
  })
  const { webhooks: _, servers: __, info, ...rest } = document
  return { ...rest, info: { ...info, description: shortIntroduction }, paths: Object.fromEntries(paths) }
}

/** The method of an operation that `/docs` shows. */
export function preferredMethod({
  methods,
  changes,
}: Pick<Operation, 'methods' | 'changes'>): 'get' | 'post' {
  const [only] = methods
  if (methods.length === 1 && only) return only === 'GET' ? 'get' : 'post'
  return changes ? 'post' : 'get'
}

function preferredWay(operation: Operation, item: OpenApiPath): OpenApiPath {
  const method = preferredMethod(operation)
  const preferred = item[method]
  if (!preferred) return item
  const isTwin = operation.methods.length > 1
  const other =
    method === 'get' ? 'POST, with the parameters as JSON' : 'GET, with the parameters in the query'
  const errors = (operation.errors ?? []).map((code) => `\`${code}\``)
  const description = [
    isTwin && `Also takes ${other}.`,
    operation.adminOnly && 'Needs the key of an ADMIN.',
    errors.length > 0 && `Errors of its own: ${errors.join(', ')}.`,
  ]
    .filter(Boolean)
    .join(' ')
  return { [method]: { ...withSuccessOnly(preferred), ...(description && { description }) } }
}

function withoutErrors({ get, ...item }: OpenApiPath): OpenApiPath {
  return { ...item, ...(get && { get: withSuccessOnly(get) }) }
}

function withSuccessOnly(operation: OpenApiOperation): OpenApiOperation {
  const responses = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  return { ...operation, responses: Object.fromEntries(responses) }
}
