/** What commands say: to people as text, with `--json` to programs. Results on stdout, everything else on stderr. */
import { Console, Context, Effect, Layer, Stdio, Stream, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { Json } from "../GlobalFlags.ts"
import { type Paint, paintOf } from "./Paint.ts"

export class Output extends Context.Service<
  Output,
  {
    /** Whether a program reads along. */
    readonly json: boolean
    readonly paint: Paint
    /** Columns that a line may have: those of the terminal, and any number where there is none. */
    readonly columns: Effect.Effect<number>
    /** The result of a command: the text, or the value as one JSON document. */
    readonly print: (value: unknown, text: () => string) => Effect.Effect<void>
    /** One of many results, as it comes: the text, or the value as a line of JSON. */
    readonly line: (value: unknown, text: () => string) => Effect.Effect<void>
    /** What people should know besides; programs are not told. */
    readonly note: (text: string) => Effect.Effect<void>
    /** A line that the next one replaces, and that null removes; only where somebody looks at a terminal. */
    readonly status: (text: string | null) => Effect.Effect<void>
  }
>()("weft/output/Output") {
  static readonly layer = Layer.effect(
    Output,
    Effect.gen(function* () {
      const json = yield* Json
      const terminal = yield* Terminal.Terminal
      const stdio = yield* Stdio.Stdio
      const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
      const isWatched = !json && (yield* stdio.stderrIsTerminal)
      const isWide = !(yield* stdio.stdoutIsTerminal)
      let isShown = false

      const status = (text: string | null) =>
        Effect.suspend(() => {
          if (!isWatched || (text === null && !isShown)) return Effect.void
          isShown = text !== null
          return Effect.ignore(Stream.run(Stream.make(`${emptyLine}${text ?? ""}`), stdio.stderr({ endOnDone: false })))
        })
      const say = (text: () => string) =>
        Effect.andThen(
          status(null),
          Effect.suspend(() => Console.log(text()))
        )

      return Output.of({
        json,
        paint: paintOf(canColor && !json),
        columns: isWide ? Effect.succeed(Number.POSITIVE_INFINITY) : terminal.columns,
        print: (value, text) => say(() => (json ? JSON.stringify(value, null, 2) : text())),
        line: (value, text) => say(() => (json ? JSON.stringify(value) : text())),
        note: (text) => (json ? Effect.void : Effect.andThen(status(null), Console.error(text))),
        status
      })
    })
  )
}

/** Back to the first column, and away with what is there. */
const emptyLine = "\r\u001b[2K"
