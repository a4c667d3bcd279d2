/** The rules for every operation, in Markdown. */
export const introduction = `Every operation is available as \`/x\` and as \`/api/x\`, with or without a trailing slash. \`/openapi.json\`, \`/docs\` and
\`/health/…\` are available without the prefix only.

**Requests.** GET takes parameters from the query. POST takes a JSON object or a form, and parameters from the query as well.
A parameter that appears twice, or has different values in the query and the body, is refused. You may send numbers as text and
phone numbers as numbers. Unknown parameters are ignored and named in \`warnings\`. OPTIONS returns 204 and \`Allow\`;
unsupported methods return 405 and \`Allow\`. HEAD is supported where GET changes nothing.

**API key.** Send it in the header \`x-api-key\`, as \`Authorization: Bearer\`, or as \`api_key\` in the query or the body. A
request with two different keys is refused.

**Responses** are JSON, except files (\`media\`), \`events/stream\` and the PNG of \`generate-qr\`. A success has status 200
and the body \`{"ok": true, …}\`. A failure has the body
\`{"ok": false, "error": "…", "code": "…", "request_id": "…"}\`: \`error\` is for people and may change, \`code\` is for programs
and does not. \`details\` names the invalid parameters. New fields may be added to any response, and new values to any field
with a list of values (status, type, role, code): your program must tolerate unknown ones.

**Times** are ISO 8601 in UTC. **Phone numbers** are returned as digits with country prefix; you may send them with \`+\`, \`00\`,
spaces, hyphens, dots and parentheses.

**Retry** after a 429 or a 503, no sooner than the header \`Retry-After\` says. A request with an idempotency key can be
repeated safely. A \`send-media\` with a data: URL and without a key has one that the gateway made: if its answer is a 503, it
names it in \`idempotency_key\`.`
