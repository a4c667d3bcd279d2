// What the worker uses of the types of Baileys, as the checker of TypeScript finds it in its sources.
import { SyntaxKind } from 'typescript/unstable/ast'
import { SymbolFlags } from 'typescript/unstable/sync'

/**
 * @typedef {import('typescript/unstable/ast').Node} Node
 * @typedef {import('typescript/unstable/sync').Project} Project
 * @typedef {import('typescript/unstable/sync').Symbol} Symbol
 */

/** Their members are named by plain strings: events, and kinds of keys. */
const namedByStrings = ['BaileysEventMap', 'SignalDataTypeMap']
const inBaileys = /\/node_modules\/baileys\/(lib|WAProto)\//
/** Whose text is that of what they declare as a whole. Of the others, the members that are used have lines of their own. */
const containers = new Map([
  [SyntaxKind.ClassDeclaration, 'class'],
  [SyntaxKind.InterfaceDeclaration, 'interface'],
  [SyntaxKind.ModuleDeclaration, 'namespace'],
  [SyntaxKind.EnumDeclaration, 'enum'],
])
/** In these, a name may be that of something that Baileys declares. Elsewhere it is one of our own, or imported. */
const namesMember = new Set([
  SyntaxKind.BindingElement,
  SyntaxKind.ImportSpecifier,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.PropertyAccessExpression,
  SyntaxKind.PropertyAssignment,
  SyntaxKind.QualifiedName,
  SyntaxKind.ShorthandPropertyAssignment,
])
const declarations = new Set([
  ...containers.keys(),
  SyntaxKind.EnumMember,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.MethodSignature,
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.PropertySignature,
  SyntaxKind.TypeAliasDeclaration,
  SyntaxKind.VariableDeclaration,
])

/**
 * The exports of Baileys that `files` import, and the members of their types that they name, each with its declaration.
 *
 * @param {Project} project
 * @param {string[]} files
 * @returns {Map<string, string>}
 */
export function readTypes(project, files) {
  const { checker, program } = project
  const found = new Map()
  const nodes = files.flatMap((file) => namesIn(program.getSourceFile(file)))
  const symbols = checker.getSymbolAtLocation(nodes)
  const strings = membersNamedByStrings(project, nodes)
  const used = [
    ...symbols,
    ...nodes.map((node) => strings.get(textOf(node))),
    ...wantedProperties(checker, nodes),
  ]
  for (const symbol of new Set(used)) {
    if (symbol) for (const [name, text] of describe(project, symbol)) found.set(`type ${name}`, text)
  }
  return found
}

/** @param {Node | undefined} file */
function namesIn(file) {
  /** @type {Node[]} */
  const names = []
  /** @param {Node} node */
  const visit = (node) => {
    const isName = node.kind === SyntaxKind.Identifier && namesMember.has(node.parent.kind)
    if (isName || node.kind === SyntaxKind.StringLiteral) names.push(node)
    node.forEachChild(visit)
  }
  if (file) visit(file)
  return names
}

/** @param {Node | undefined} node */
const textOf = (node) => /** @type {{ text?: string } | undefined} */ (node)?.text ?? ''

/** @param {Node} node */
const nameNode = (node) => /** @type {{ name?: Node }} */ (/** @type {unknown} */ (node)).name

/**
 * @param {Project} project
 * @param {Node[]} nodes
 */
function membersNamedByStrings({ checker }, nodes) {
  const baileys = nodes.find(
    (node) => node.parent.kind === SyntaxKind.ImportDeclaration && textOf(node) === 'baileys',
  )
  const module = baileys && checker.getSymbolAtLocation(baileys)
  return new Map(
    namedByStrings
      .flatMap((name) => (module && checker.getMemberInModuleExports(module, name)) ?? [])
      .flatMap((symbol) =>
        checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(aliased(checker, symbol))),
      )
      .map((symbol) => [symbol.name, symbol]),
  )
}

/**
 * The members that object literals give to Baileys: the symbols of their names are those of the literals.
 *
 * @param {Project['checker']} checker
 * @param {Node[]} nodes
 */
function wantedProperties(checker, nodes) {
  const names = nodes.filter(
    (node) =>
      node.parent.parent?.kind === SyntaxKind.ObjectLiteralExpression && nameNode(node.parent) === node,
  )
  const literals = new Set(names.map((node) => node.parent.parent))
  const types = new Map(
    [...literals].map((node) => [node, checker.getContextualType(/** @type {never} */ (node))]),
  )
  return names.map((node) => {
    const type = types.get(node.parent.parent)
    return type && checker.getPropertyOfType(type, textOf(node))
  })
}

/**
 * @param {Project['checker']} checker
 * @param {Symbol} symbol
 */
function aliased(checker, symbol) {
  return symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
}

/**
 * @param {Project} project
 * @param {Symbol} symbol
 * @returns {[string, string][]}
 */
function describe({ checker }, symbol) {
  const handles = aliased(checker, symbol).declarations.filter(({ path }) => inBaileys.test(path))
  const nodes = handles.flatMap((handle) => (declarations.has(handle.kind) && handle.resolve()) || [])
  const texts = nodes.map((node) => /** @type {const} */ ([nameOf(node), declarationOf(node)]))
  // An overloaded function, or an interface and what has its name.
  return [...new Set(texts.map(([name]) => name))].map((name) => [
    name,
    [...new Set(texts.filter(([other]) => other === name).map(([, text]) => text))].join(' & '),
  ])
}

/** With the names of all that it is declared in. @param {Node} node */
function nameOf(node) {
  const parts = []
  for (let at = node; at.kind !== SyntaxKind.SourceFile; at = at.parent) {
    if (at.kind === SyntaxKind.FunctionType) parts.unshift('()')
    else if (declarations.has(at.kind)) parts.unshift(`.${textOf(nameNode(at))}`)
  }
  return parts.join('').slice(1)
}

/** On one line, without comments and without the members of nested types. @param {Node} node */
function declarationOf(node) {
  const container = containers.get(node.kind)
  if (container) return container
  const { text } = node.getSourceFile()
  const start = node.getStart()
  let at = start
  let shown = ''
  /** @param {Node} part */
  const visit = (part) => {
    if (part.kind === SyntaxKind.TypeLiteral) {
      shown += `${text.slice(at, part.getStart())}{…}`
      at = part.end
    } else part.forEachChild(visit)
  }
  node.forEachChild(visit)
  return `${shown}${text.slice(at, node.end)}`
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/import\("[^"]*"\)\./g, '')
    .replace(/\s+/g, ' ')
    .replace(/;$/, '')
    .trim()
}
