/** What pages may know of the gateway before a person has signed in. Empty if it cannot be read. */
export const installation = fetch('/accounts/installation.json')
  .then((response) => response.json())
  .catch(() => ({}))
