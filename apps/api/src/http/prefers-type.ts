export const pngType = 'image/png'
export const htmlType = 'text/html'
/** Browsers name about ten. What comes after these does not count. */
const rangesMax = 50
const rangeCharsMax = 200

/** Whether a client wants this type rather than JSON. False when JSON is accepted equally, or neither is. */
export function prefersType(type: string, accept: string | null): boolean {
  return qualityOf(type, accept ?? '') > qualityOf('application/json', accept ?? '')
}

/** The weight of the most specific range that matches (RFC 9110, section 12.5.1). 0 is not acceptable. */
function qualityOf(type: string, accept: string): number {
  const ranges = new Map(
    accept.split(',', rangesMax).map((item) => {
      const [range = '', ...parameters] = item.slice(0, rangeCharsMax).toLowerCase().split(';')
      const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find(Boolean)
      return [range.trim(), Math.min(1, Number(weight ?? 1) || 0)]
    }),
  )
  const [group] = type.split('/')
  return ranges.get(type) ?? ranges.get(`${group}/*`) ?? ranges.get('*/*') ?? 0
}
