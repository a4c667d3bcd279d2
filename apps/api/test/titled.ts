/** A case of `test.each` behind a short title, for `%s`. */
export function titled<Case>(given: Case): [title: string, given: Case] {
  return [JSON.stringify(given).slice(0, 80), given]
}
