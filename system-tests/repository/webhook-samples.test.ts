import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeWebhookSecret, signWebhook } from '@wagate/shared/webhook-signature'
import { temporaryFolder } from '@wagate/test-kit/temporary-folder'
import { describe, expect, test } from 'vitest'
import { codeBlocksOf, readPages } from './pages.ts'

const blocks = codeBlocksOf(readPages().get('docs/webhooks.md') ?? '')

/** Reads requests from the standard input, and prints for each whether the sample accepts it. */
const languages = [
  {
    name: 'js',
    program: process.execPath,
    file: 'sample.mjs',
    toProgram: (sample: string) => `${sample}
import { readFileSync } from 'node:fs'
const requests = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(requests.map(({ secret, headers, body }) => verify(secret, headers, body))))`,
  },
  {
    name: 'python',
    program: 'python3',
    file: 'sample.py',
    toProgram: (sample: string) => `${sample}
import json, sys
print(json.dumps([verify(r["secret"], r["headers"], r["body"].encode()) for r in json.load(sys.stdin)]))`,
  },
  {
    name: 'php',
    program: 'php',
    file: 'sample.php',
    toProgram: (sample: string) => `<?php ${sample}
$requests = json_decode(file_get_contents('php://stdin'), true);
echo json_encode(array_map(fn ($r) => verify($r['secret'], $r['headers'], $r['body']), $requests));`,
  },
]

const secret = makeWebhookSecret()
const id = 'evt_697dee5100000000a3f100000000004e697def40'
const body = '{"text":"Größe 😀"}'

function requestOf({ secrets = [secret], ageSeconds = 0 } = {}) {
  const timestampSeconds = Math.floor(Date.now() / 1000) - ageSeconds
  const signature = signWebhook(secrets, { id, timestampSeconds, body })
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signature,
  }
  return { secret, headers, body }
}

function cases() {
  const good = requestOf()
  return {
    'a signature': [good, true],
    'a signature beside that of another secret': [
      requestOf({ secrets: [makeWebhookSecret(), secret] }),
      true,
    ],
    'another secret': [requestOf({ secrets: [makeWebhookSecret()] }), false],
    'a changed body': [{ ...good, body: `${body} ` }, false],
    'another id': [{ ...good, headers: { ...good.headers, 'webhook-id': 'evt_other' } }, false],
    'an old request': [requestOf({ ageSeconds: 400 }), false],
    'a request from the future': [requestOf({ ageSeconds: -400 }), false],
    'a signature that is none': [
      { ...good, headers: { ...good.headers, 'webhook-signature': 'v1,x' } },
      false,
    ],
  } as const
}

describe.each(languages)('the sample in $name', ({ name, program, file, toProgram }) => {
  const isInstalled = spawnSync(program, ['--version']).status === 0
  const title = isInstalled ? '' : `, which is not here: ${program}`

  test.skipIf(!isInstalled)(`verifies the requests of webhooks${title}`, () => {
    const samples = blocks.filter(({ language, text }) => language === name && text.includes('verify('))
    expect(samples).toHaveLength(1)
    const path = join(temporaryFolder(), file)
    writeFileSync(path, toProgram(samples[0]?.text ?? ''))
    const given = cases()
    const input = JSON.stringify(Object.values(given).map(([request]) => request))
    const { stdout, stderr } = spawnSync(program, [path], { input, encoding: 'utf8' })
    expect(stderr).toBe('')
    const results: unknown[] = JSON.parse(stdout)
    expect(Object.keys(given).map((key, index) => [key, results[index]])).toEqual(
      Object.entries(given).map(([key, [, isTaken]]) => [key, isTaken]),
    )
  })
})
