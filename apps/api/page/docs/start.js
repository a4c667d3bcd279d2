/** Swagger UI has dark colours for pages of this class. */
const isDark = matchMedia('(prefers-color-scheme: dark)')
const colour = () => document.documentElement.classList.toggle('dark-mode', isDark.matches)
isDark.addEventListener('change', colour)
colour()

const contains = (text, phrase) =>
  String(text ?? '')
    .toLowerCase()
    .includes(phrase)

/** By default the filter looks at the names of the groups only. */
const filterOperations = (groups, phrase) => {
  const wanted = phrase.trim().toLowerCase()
  return groups
    .map((group) =>
      group.update('operations', (operations) =>
        operations.filter(
          (operation) =>
            contains(operation.get('path'), wanted) ||
            contains(operation.getIn(['operation', 'summary']), wanted),
        ),
      ),
    )
    .filter((group) => group.get('operations').size > 0)
}

// validatorUrl: by default the page sends the document to swagger.io.
window.SwaggerUIBundle({
  url: '/docs/openapi.json',
  dom_id: '#swagger-ui',
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: true,
  plugins: [{ fn: { opsFilter: filterOperations } }],
})
