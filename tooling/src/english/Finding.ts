/** A place in a file that is not plain English. */
export interface EnglishFinding {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  readonly rule: string
  readonly message: string
  readonly say: string
}

export const formatEnglish = ({ file, line, column, rule, message, say }: EnglishFinding): string =>
  `${file}:${line}:${column} ${rule} ${message} - say: ${say}`

/** The line and column, from 1, of an offset. */
export const makeLocator = (text: string): ((offset: number) => { readonly line: number; readonly column: number }) => {
  const starts = [0]
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  return (offset) => {
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
