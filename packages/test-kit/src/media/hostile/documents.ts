import { empty } from './pieces.ts'
export function entities(): string {
  const names = [...'abcdefghijklmnopqrstuvwxyz']
  const of = (name: string, n: number) => `<!ENTITY ${name} "${`&${names[n - 1] ?? 'lt'};`.repeat(10)}">`
  return names.map(of).join('')
}

export function zipEntry(name: string, content = empty, size = 0): Buffer {
  const head = Buffer.alloc(30)
  head.write('PK\x03\x04\x14\0', 'latin1')
  head.writeUInt16LE(content.length > 0 ? 8 : 0, 8)
  head.writeUInt32LE(content.length, 18)
  head.writeUInt32LE(size, 22)
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, Buffer.from(name, 'latin1'), content])
}

export const asfHead = Buffer.from('3026b2758e66cf11a6d900aa0062ce6cffffffffffff0000ffffffff0102', 'hex')
