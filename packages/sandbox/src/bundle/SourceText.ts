/** Positions in source text that was wrapped in a function before it was compiled. */

/** Name of a source in errors and stacks. */
export const sourceFile = "eval.ts"

/** Lines before the author's text. */
const linesBefore = 1

/** Returns the line of the author's text for a line of a compiled module. */
export const originalLine = (file: string, line: number): number =>
  file === sourceFile ? Math.max(1, line - linesBefore) : line
