import type { BinaryNode } from 'baileys'

export type Node = BinaryNode
export type NodeContent = Node[] | string | Uint8Array

/** Attributes that are undefined are left out. */
export function node(
  tag: string,
  attrs: Record<string, string | undefined> = {},
  content?: NodeContent,
): Node {
  const present: Record<string, string> = {}
  for (const name in attrs) {
    const value = attrs[name]
    if (value !== undefined) present[name] = value
  }
  return content === undefined ? { tag, attrs: present } : { tag, attrs: present, content }
}

export function children(parent: Node | undefined, tag?: string): Node[] {
  const content = parent?.content
  if (!Array.isArray(content)) return []
  return tag === undefined ? content : content.filter((item) => item.tag === tag)
}

export function child(parent: Node | undefined, tag: string): Node | undefined {
  const content = parent?.content
  return Array.isArray(content) ? content.find((item) => item.tag === tag) : undefined
}

export function bytes(item: Node | undefined): Buffer | undefined {
  const content = item?.content
  if (typeof content === 'string') return Buffer.from(content)
  return content instanceof Uint8Array ? Buffer.from(content) : undefined
}

export function uint(item: Node | undefined): number | undefined {
  const value = bytes(item)
  return value && value.length > 0 && value.length <= 6 ? value.readUIntBE(0, value.length) : undefined
}

const outlineMax = 4000

/** In XML for people, with the number of bytes in place of bytes. */
export function outline(item: Node): string {
  const text = toXml(item)
  return text.length > outlineMax ? `${text.slice(0, outlineMax)}…` : text
}

function toXml({ tag, attrs, content }: Node): string {
  const written = Object.entries(attrs).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  if (content === undefined) return `<${tag}${written.join('')}/>`
  return `<${tag}${written.join('')}>${contentToXml(content)}</${tag}>`
}

function contentToXml(content: NonNullable<Node['content']>): string {
  if (Array.isArray(content)) return content.map(toXml).join('')
  return typeof content === 'string' ? content : `${content.length} bytes`
}

export const nowSeconds = (): string => Math.floor(Date.now() / 1000).toString()
