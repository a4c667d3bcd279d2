/** Where a tab keeps the session of a link for a reload. It can only link one sender, and only for ten minutes. */
const item = 'wagate-link-session'

export const findLinkSession = () => sessionStorage.getItem(item)
export const keepLinkSession = (session) => sessionStorage.setItem(item, session)
export const forgetLinkSession = () => sessionStorage.removeItem(item)
