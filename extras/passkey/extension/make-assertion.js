/**
 * Uses the passkey of the WhatsApp account, which works only on https://web.whatsapp.com. `request` are the WebAuthn request
 * options of `passkey-challenge`, as an object or as its JSON. Resolves to what `passkey-assertion` takes, as JSON.
 */
globalThis.makeAssertion = async (request) => {
  const options = typeof request === 'string' ? JSON.parse(request) : request
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = await navigator.credentials.get({ publicKey })
  return JSON.stringify(credential.toJSON())
}
