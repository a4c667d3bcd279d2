import { texts as english } from './languages/en.js'

/** Each has a file in `languages`. */
const languages = ['en', 'es', 'pt', 'de', 'fr', 'it', 'id', 'tr', 'hi', 'ar']
const rightToLeft = ['ar']

const wanted = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0])
const language = wanted.find((one) => languages.includes(one)) ?? 'en'
const isRightToLeft = rightToLeft.includes(language)

/** Every text, in the first language of the browser that the page has. */
export const texts = await import(`./languages/${language}.js`).then(
  (module) => module.texts,
  () => english,
)

/** Numbers and names keep their own direction in a sentence from right to left. */
const isolated = (value) => (isRightToLeft ? `\u2068${value}\u2069` : value)

/** A text with the words in braces filled in. */
export const fill = (key, values) =>
  texts[key].replaceAll(/\{(\w+)\}/g, (_, name) => isolated(String(values[name])))

/** Writes the texts into the elements that name them. */
export function translatePage() {
  document.documentElement.lang = language
  document.documentElement.dir = isRightToLeft ? 'rtl' : 'ltr'
  document.title = texts.title
  for (const element of document.querySelectorAll('[data-text]')) {
    element.textContent = texts[element.dataset.text]
  }
  for (const image of document.querySelectorAll('[data-alt]')) image.alt = texts[image.dataset.alt]
}
