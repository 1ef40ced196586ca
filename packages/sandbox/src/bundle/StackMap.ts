/** Maps stack traces of guest errors to the author's files and lines. */
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping"
import { originalLine } from "./SourceText.ts"

const position = /weft:bundle:(\d{1,7}):(\d{1,7})/g
const framesMax = 50

/** Translates stacks with a source map, which it parses at the first error. */
export class StackMap {
  readonly #sourceMap: string
  #map: TraceMap | undefined

  constructor(sourceMap: string) {
    this.#sourceMap = sourceMap
  }

  /** Returns the stack with mapped positions, without the kernel's frames, at most 50 lines. */
  translate(stack: string): string {
    return stack
      .split("\n")
      .filter((line) => !line.includes("weft:kernel"))
      .slice(0, framesMax)
      .map((line) => line.replaceAll(position, (_, line: string, column: string) => this.#original(+line, +column)))
      .join("\n")
  }

  /** Returns the first position of the bundle in the stack, as `file:line:column`. */
  first(stack: string): string | undefined {
    const found = /weft:bundle:(\d{1,7}):(\d{1,7})/.exec(stack)
    return found === null ? undefined : this.#original(Number(found[1]), Number(found[2]))
  }

  #original(line: number, column: number): string {
    try {
      this.#map ??= new TraceMap(this.#sourceMap)
      // V8 counts columns from 1, source maps from 0.
      const found = originalPositionFor(this.#map, { line, column: Math.max(0, column - 1) })
      if (found.source === null) return `index.js:${line}:${column}`
      const file = found.source.replace(/^bundle:/, "")
      return `${file}:${originalLine(file, found.line)}:${found.column + 1}`
    } catch {
      return `index.js:${line}:${column}`
    }
  }
}
