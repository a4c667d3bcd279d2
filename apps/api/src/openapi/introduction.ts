/** The rules for every operation, in Markdown. */
export const introduction = `Every operation is available as \`/x\` and as \`/api/x\`, with or without a trailing slash. \`/openapi.json\`, \`/docs\` and
\`/health/…\` are available without the prefix only.

**Requests.** GET takes parameters from the query. POST takes a JSON object or a form (\`application/x-www-form-urlencoded\` or
\`multipart/form-data\`), and parameters from the query as well. Texts are in UTF-8. A parameter that appears twice, or has
different values in the query and the body, is refused. You may send numbers as text, phone numbers as numbers, and true and
false as \`true\`, \`1\`, \`yes\`, \`on\` and \`false\`, \`0\`, \`no\`, \`off\`. An empty text and null count as not given, so an empty value clears
nothing. Lists are JSON arrays, texts with commas, or a parameter that appears several times (\`types=a&types=b\`,
\`types[]=a&types[]=b\`). Unknown parameters are ignored and named in \`warnings\`, with the one that you may have meant. OPTIONS
returns 204 and \`Allow\`; unsupported methods return 405 and \`Allow\`. HEAD is supported where GET changes nothing.

**API key.** Send it in the header \`x-api-key\`, as \`Authorization: Bearer\`, or as \`api_key\` in the query or the body. A
request with two different keys is refused.

**Responses** are JSON, except files (\`media\`), \`events/stream\` and the PNG of \`generate-qr\`. A success has status 200
and the body \`{"ok": true, …}\`. A failure has the body
\`{"ok": false, "error": "…", "code": "…", "request_id": "…"}\`: \`error\` is for people and may change, \`code\` is for programs
and does not. \`details\` names the invalid parameters. New fields may be added to any response, and new values to any field
with a list of values (status, type, role, code): your program must tolerate unknown ones.

**Times** in answers are ISO 8601 in UTC. In requests, they need a time zone: \`2030-01-31T12:00:00Z\`, \`2030-01-31 12:00+0200\`, or
Unix time in seconds (10 digits) or milliseconds (13 digits). **Phone numbers** are returned as digits with country prefix; you may send them with \`+\`, \`00\`,
\`tel:\`, spaces, hyphens, dots and parentheses, in the digits of any script, and with the invisible marks of a copied number. Where a
subscriber has two numbers (Brazil, Mexico, Argentina, Ivory Coast, Benin), either one is accepted.

**Retry** after a 429 or a 503, no sooner than the header \`Retry-After\` says. A request with an idempotency key can be
repeated safely. A \`send-media\` with a data: URL and without a key has one that the gateway made: if its answer is a 503, it
names it in \`idempotency_key\`.`
