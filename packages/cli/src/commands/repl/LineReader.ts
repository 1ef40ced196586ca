/** Lines of a terminal or of a pipe, with the history of earlier commands and completion. */
import { readFileSync, writeFileSync } from "node:fs"
import { createInterface, type Interface } from "node:readline"

export type Line =
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C at the prompt. */
  | { readonly kind: "interrupt" }
  | { readonly kind: "end" }

/** Returns candidates for the end of a line, and the part of it that a candidate replaces. */
export type Complete = (line: string) => Promise<readonly [candidates: Array<string>, replaced: string]>

export interface Lines {
  readonly isTerminal: boolean
  /** Waits for the next line. */
  readonly next: (prompt: string) => Promise<Line>
  /** Called by Ctrl-C while no line is awaited; null for nothing. */
  onInterrupt: (() => void) | null
  readonly close: () => void
}

export interface LineReaderOptions {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly isTerminal: boolean
  readonly historyFile: string
  readonly complete: Complete
}

const historyMax = 1000

export class LineReader implements Lines {
  readonly isTerminal: boolean
  onInterrupt: (() => void) | null = null
  readonly #interface: Interface
  /** Lines that arrived before anything waited for them. */
  readonly #early: Array<Line> = []
  #receive: ((line: Line) => void) | null = null
  #isClosed = false

  constructor({ input, output, isTerminal, historyFile, complete }: LineReaderOptions) {
    this.isTerminal = isTerminal
    this.#interface = createInterface({
      input,
      output,
      terminal: isTerminal,
      historySize: historyMax,
      removeHistoryDuplicates: true,
      ...(isTerminal ? { history: readHistory(historyFile), completer: completer(complete) } : {})
    })
    this.#interface.on("line", (text) => this.#emit({ kind: "line", text }))
    this.#interface.on("SIGINT", () => {
      if (this.#receive === null) this.onInterrupt?.()
      else this.#emit({ kind: "interrupt" })
    })
    this.#interface.on("close", () => {
      this.#isClosed = true
      this.#emit({ kind: "end" })
    })
    if (isTerminal) this.#interface.on("history", (lines: ReadonlyArray<string>) => writeHistory(historyFile, lines))
  }

  next(prompt: string): Promise<Line> {
    const early = this.#early.shift()
    if (early !== undefined) return Promise.resolve(early)
    if (this.#isClosed) return Promise.resolve({ kind: "end" })
    if (this.isTerminal) {
      this.#interface.setPrompt(prompt)
      this.#interface.prompt()
    }
    return new Promise((resolve) => {
      this.#receive = resolve
    })
  }

  close(): void {
    this.#interface.close()
  }

  #emit(line: Line): void {
    const receive = this.#receive
    this.#receive = null
    if (receive === null) this.#early.push(line)
    else receive(line)
  }
}

const completer =
  (complete: Complete) =>
  (line: string, done: (error: null, result: [Array<string>, string]) => void): void => {
    complete(line).then(
      ([candidates, replaced]) => done(null, [candidates, replaced]),
      () => done(null, [[], line])
    )
  }

/** Reads the history, newest first. */
const readHistory = (file: string): Array<string> => {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean).slice(0, historyMax)
  } catch {
    return []
  }
}

/** Stores the history. Inputs may contain secrets: only the owner may read the file. */
const writeHistory = (file: string, lines: ReadonlyArray<string>): void => {
  try {
    writeFileSync(file, `${lines.join("\n")}\n`, { mode: 0o600 })
  } catch {
    // A history that cannot be stored is no reason to end a session.
  }
}
