/** Output of commands: text, or JSON with `--json`. Results go to stdout, everything else to stderr. */
import { Console, Context, Effect, Layer, Stdio, Stream, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { Json } from "../GlobalFlags.ts"
import { makePaint, type Paint } from "./Paint.ts"

export class Output extends Context.Service<
  Output,
  {
    /** True with `--json`: the reader is a program. */
    readonly json: boolean
    readonly paint: Paint
    /** Maximum columns per line: the terminal's, or infinite without a terminal. */
    readonly columns: Effect.Effect<number>
    /** Prints the result of a command: the text, or the value as one JSON document. */
    readonly print: (value: unknown, text: () => string) => Effect.Effect<void>
    /** Prints one of many results: the text, or the value as one line of JSON. */
    readonly line: (value: unknown, text: () => string) => Effect.Effect<void>
    /** Prints additional information on stderr; nothing with `--json`. */
    readonly note: (text: string) => Effect.Effect<void>
    /** Shows a line on the terminal, which the next output replaces; null removes it. Does nothing without a terminal. */
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
      const isInteractive = !json && (yield* stdio.stderrIsTerminal)
      const isUnlimited = !(yield* stdio.stdoutIsTerminal)
      let isShown = false

      const status = (text: string | null) =>
        Effect.suspend(() => {
          if (!isInteractive || (text === null && !isShown)) return Effect.void
          isShown = text !== null
          return Effect.ignore(Stream.run(Stream.make(`${emptyLine}${text ?? ""}`), stdio.stderr({ endOnDone: false })))
        })
      const write = (text: () => string) =>
        Effect.andThen(
          status(null),
          Effect.suspend(() => Console.log(text()))
        )

      return Output.of({
        json,
        paint: makePaint(canColor && !json),
        columns: isUnlimited ? Effect.succeed(Number.POSITIVE_INFINITY) : terminal.columns,
        print: (value, text) => write(() => (json ? JSON.stringify(value, null, 2) : text())),
        line: (value, text) => write(() => (json ? JSON.stringify(value) : text())),
        note: (text) => (json ? Effect.void : Effect.andThen(status(null), Console.error(text))),
        status
      })
    })
  )
}

/** Escape sequence that returns to the first column and erases the line. */
const emptyLine = "\r\u001b[2K"
