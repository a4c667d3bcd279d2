import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { WebVersion } from '../network/web-version.ts'

const modules = 90
const endlessEveryMs = 10

/** `/sw.js` of WhatsApp Web, in which clients read its current version. */
export function serveServiceWorker({ page, revision }: WebVersion, response: ServerResponse): void {
  if (page === 'missing') {
    response.writeHead(404).end()
    return
  }
  response.writeHead(200, { 'content-type': 'application/javascript; charset=utf-8' })
  if (page === 'endless') void writeForever(response)
  else response.end(page === 'changed' ? filler() : `${dataOf(revision)}\n${filler()}`)
}

/** JSON within a string, as WhatsApp Web has it. */
function dataOf(revision: number): string {
  const site = {
    server_revision: revision,
    client_revision: revision,
    push_phase: 'C3',
    pkg_cohort: 'BP:whatsapp_www_pkg',
    haste_session: '20420.BP:whatsapp_www_pkg.2.0...0',
    manifest_base_uri: 'https://static.whatsapp.net',
  }
  const data = JSON.stringify({ dynamic_data: { SiteData: site }, dynamic_modules: {} })
  return `self.__swData=JSON.parse(${JSON.stringify(data)});`
}

function filler(): string {
  return Array.from({ length: modules }, (_, index) => moduleOf(index)).join('\n')
}

function moduleOf(index: number): string {
  const name = `WAWebServiceWorkerModule${index}`
  return (
    `__d("${name}",["Promise","WAWebServiceWorkerCache"],(function(t,n,r,o,a,i,l){"use strict";` +
    `function e(e){return(o||(o=n("Promise"))).resolve(r("WAWebServiceWorkerCache").match(e,{slot:${index}}))}` +
    'l.match=e}),98);'
  )
}

async function writeForever(response: ServerResponse): Promise<void> {
  const part = `${filler()}\n`
  while (!response.closed) {
    if (!response.writableNeedDrain) response.write(part)
    await delay(endlessEveryMs, undefined, { ref: false })
  }
}
