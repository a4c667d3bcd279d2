async function call(method, path, body) {
  const response = await fetch(path, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error ?? 'The simulator refused the request.')
  return answer
}

const chat = (number) => `/chats/${encodeURIComponent(number)}`

export const api = {
  phones: () => call('GET', '/phones'),
  timeline: (number) => call('GET', `${chat(number)}/timeline`),
  scan: (qr, number) => call('POST', '/scan', { qr, number }),
  unlink: (number, jid) => call('POST', '/unlink', { number, jid }),
  send: (number, to, text) => call('POST', `${chat(number)}/send`, { to, text }),
  sendFile: (number, to, as) => call('POST', `${chat(number)}/send`, { to, as }),
  mails: () => call('GET', '/mails'),
  faults: () => call('GET', '/faults'),
  /** Only a temporary ban says when it ends. */
  refuseLogins: (sender, code, seconds) =>
    call('POST', '/faults', {
      kind: 'login_failure',
      sender,
      code,
      ...(seconds && (code === '402' ? { expire: seconds } : { ms: seconds * 1000 })),
    }),
  endFault: (id) => call('DELETE', `/faults/${encodeURIComponent(id)}`),
  read: (number, id) => call('POST', `${chat(number)}/read`, { wa_message_id: id }),
}
