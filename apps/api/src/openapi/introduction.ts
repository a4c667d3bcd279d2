/** What holds for every operation, in Markdown. */
export const introduction = `Every operation answers as \`/x\` and as \`/api/x\`, with or without a slash at its end. \`/openapi.json\`, \`/docs\` and
\`/health/…\` have no prefix.

**Requests.** GET takes parameters from the query. POST takes a JSON object or a form, and from the query as well; a name
with two values is refused. Numbers may be given as text and phone numbers as numbers. A parameter that an operation does not
know is ignored and named in \`warnings\`. OPTIONS is answered with 204 and \`Allow\`, a method that a path does not take with
405 and \`Allow\`. HEAD works where GET changes nothing.

**Key.** In the header \`x-api-key\`, as \`Authorization: Bearer\`, or as \`api_key\` in the query or the body. Two different
keys in one request are refused.

**Answers.** Always JSON. Success is \`{"ok": true, …}\` with status 200. A failure is
\`{"ok": false, "error": "…", "code": "…", "request_id": "…"}\`: \`error\` is for people and may change, \`code\` is for programs
and does not. \`details\` names the parameters that are wrong. Fields may be added to any answer, and values to any field whose
values are listed (status, type, role, code): a program must bear one that it does not know.

**Times** are ISO 8601 in UTC. **Phone numbers** come back as digits with country prefix; they may be given with \`+\`, \`00\`,
spaces, hyphens, dots and parentheses.

**Try again** after a 429 or a 503, no sooner than the header \`Retry-After\` says. A request with an idempotency key can be
repeated without harm.`
