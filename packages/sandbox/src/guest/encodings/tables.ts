/** Lookups in the tables that the runner provides. */

/** The tables in their order. The runner uses the same order. */
const tableNames = [
  "big5",
  "euc-kr",
  "gb18030",
  "jis0208",
  "jis0212",
  "gb18030-ranges",
  "ibm866",
  "iso-8859-10",
  "iso-8859-13",
  "iso-8859-14",
  "iso-8859-15",
  "iso-8859-16",
  "iso-8859-2",
  "iso-8859-3",
  "iso-8859-4",
  "iso-8859-5",
  "iso-8859-6",
  "iso-8859-7",
  "iso-8859-8",
  "koi8-r",
  "koi8-u",
  "macintosh",
  "windows-1250",
  "windows-1251",
  "windows-1253",
  "windows-1254",
  "windows-1255",
  "windows-1256",
  "windows-1257",
  "windows-1258",
  "windows-874",
  "x-mac-cyrillic"
] as const
export type TableName = (typeof tableNames)[number]

export const isTable = (name: string): name is TableName => tableNames.some((known) => known === name)

/** Returns a function of the pointers into a table: their code points, 0 if they have none. */
export const lookup = (name: TableName): ((pointer: number) => number) => {
  const index = tableNames.indexOf(name)
  const start = tables[index] ?? 0
  const end = tables[index + 1] ?? 0
  return (pointer) => (pointer >= 0 && start + pointer < end ? (tables[start + pointer] ?? 0) : 0)
}

/** Returns the code point of four bytes of gb18030, as their pointer; 0 if it has none. */
export const gb18030Range = (pointer: number): number => {
  if (pointer >= 189_000) return pointer > 1_237_575 ? 0 : pointer - 189_000 + 0x10000
  if (pointer > 39_419) return 0
  const index = tableNames.indexOf("gb18030-ranges")
  const start = tables[index] ?? 0
  // Pairs of a pointer and a code point. The last range that starts at or before the pointer contains it.
  let low = 0
  let high = ((tables[index + 1] ?? 0) - start) / 2 - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tables[start + 2 * middle] ?? 0) <= pointer) low = middle
    else high = middle - 1
  }
  return (tables[start + 2 * low + 1] ?? 0) + pointer - (tables[start + 2 * low] ?? 0)
}
