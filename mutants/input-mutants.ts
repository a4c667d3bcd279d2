import type { Mutant } from './mutant.ts'

/** What requests may say, and how they are refused. */
export const inputMutants: Mutant[] = [
  {
    name: 'list read before it is counted',
    file: 'apps/api/src/parameters/parameter-types.ts',
    text: 'return named.length <= max && !isEmptyText ? named : undefined',
    replacement: 'return isEmptyText ? undefined : named',
    test: {
      file: 'apps/api/test/parameter-lists.test.ts',
      title: 'a list of too many one too many is refused without reading them',
      written: { title: 'a list of too many %s is refused without reading them' },
    },
  },
  {
    name: 'empty parameter counts as given',
    file: 'apps/api/src/parameters/collect-parameters.ts',
    text: "value === null || value === ''",
    replacement: 'value === null',
    test: { file: 'apps/api/test/given-forms.test.ts', title: 'and a required one is missing' },
  },
  {
    name: 'sentences of the library in answers',
    file: 'apps/api/src/parameters/parse-parameters.ts',
    text: 'schema.safeParse(values, { error: sentenceOfIssue })',
    replacement: 'schema.safeParse(values)',
    test: {
      file: 'apps/api/test/own-sentences.test.ts',
      title: "'set-webhook' refuses values with sentences of the gateway",
      written: { title: '$name refuses values with sentences of the gateway' },
    },
  },
  {
    name: 'Latin-1 in forms replaced by U+FFFD',
    file: 'apps/api/src/http/parse-form.ts',
    text: 'return count(decoded, replacement) > written',
    replacement: 'return false && written > 0',
    test: {
      file: 'apps/api/test/given-forms.test.ts',
      title: 'caf%E9',
      written: { title: '%s' },
    },
  },
  {
    name: 'body nested as often as it likes',
    file: 'apps/api/src/http/parse-json-object.ts',
    text: 'if (depth > depthMax)',
    replacement: 'if (depth > 1000 * depthMax)',
    test: { file: 'apps/api/test/bodies.test.ts', title: 'are refused when they are nested too often' },
  },
  {
    name: 'opt-out word with a full stop ignored',
    file: 'apps/worker/src/session/receiving/store-received.ts',
    text: 'const text = bareWord(received.body)',
    replacement: 'const text = received.body.trim().toLowerCase() as string | undefined',
    test: {
      file: 'apps/worker/test/asked-consent.test.ts',
      title: 'the text "Stop." asks for "opt-out"',
      written: { title: 'the text %j asks for %j' },
    },
  },
]
