export type Row = Record<string, string | number>
export type Table = { title: string; rows: Row[] }

/** Plain text, one line per row, numbers aligned right. The keys of the first row are the columns. */
export function formatTable({ title, rows }: Table): string {
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => columns.map((column) => show(row[column])))
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  const isNumeric = columns.map((column) => rows.every((row) => typeof row[column] !== 'string'))
  const line = (texts: string[]) =>
    texts
      .map((text, index) =>
        isNumeric[index] ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [title, line(columns), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n')
}

function show(value: string | number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return '-'
  return String(value)
}
