/** The loop of `weft repl`: reads inputs of one or more lines, evaluates them and prints their results. */
import type { ReplResult } from "@weft/client"
import { Effect } from "effect"
import { type Failure, failure } from "../../Failure.ts"
import type { Output } from "../../output/Output.ts"
import { printable } from "../../output/Printable.ts"
import { entryText } from "../logs/LogText.ts"
import { errorLines, readError } from "../runs/RunText.ts"
import type { Lines } from "./LineReader.ts"
import { resultText } from "./ResultText.ts"

/** A session of the server. It is opened by the first input, and again after its end. */
export interface ReplSession {
  readonly input: (source: string) => Effect.Effect<ReplResult, Failure>
}

export interface LoopOptions {
  readonly lines: Lines
  readonly session: ReplSession
  readonly output: Output["Service"]
  readonly readFile: (name: string) => Effect.Effect<string, Failure>
  /** Receives the lines of an unfinished input, for the completion. */
  readonly onPending: (pending: string) => void
}

const help = [
  ".load FILE   evaluate a file as one input",
  ".break       drop an unfinished input, as Ctrl-C does",
  ".help        show this help",
  ".exit        end the session with its variables, as Ctrl-D does",
  "",
  "`_` is the last result, and `_error` the last error. Tab completes names."
].join("\n")

/** End of the message for an input that more lines may complete. */
const incomplete = "Unexpected end of the input"

export const replLoop = (options: LoopOptions): Effect.Effect<void, Failure> =>
  Effect.suspend(() => new Loop(options).run())

class Loop {
  readonly #options: LoopOptions
  #pending = ""
  #failures = 0

  constructor(options: LoopOptions) {
    this.#options = options
  }

  run(): Effect.Effect<void, Failure> {
    const step = Effect.suspend(() => this.#step())
    return Effect.gen({ self: this }, function* () {
      while (yield* step);
      if (this.#pending !== "") yield* this.#fail(failure("bad_request", `source: ${incomplete}`))
      if (this.#failures > 0 && !this.#options.lines.isTerminal)
        return yield* failure("repl_failed", `${this.#failures} of the inputs failed`)
    })
  }

  /** Handles one line. Returns false at the end. */
  #step(): Effect.Effect<boolean, Failure> {
    return Effect.gen({ self: this }, function* () {
      const { lines, onPending } = this.#options
      onPending(this.#pending)
      const line = yield* Effect.promise(() => lines.next(this.#pending === "" ? "> " : "... "))
      if (line.kind === "end") return false
      if (line.kind === "interrupt") {
        this.#pending = ""
        return true
      }
      const [command = "", ...names] = line.text.trim().split(/\s+/)
      if (command === ".break") this.#pending = ""
      else if (this.#pending === "" && command.startsWith(".")) return yield* this.#command(command, names.join(" "))
      else yield* this.#input(this.#pending === "" ? line.text : `${this.#pending}\n${line.text}`)
      return true
    })
  }

  #command(command: string, name: string): Effect.Effect<boolean, Failure> {
    const { output, readFile } = this.#options
    switch (command) {
      case ".exit":
        return Effect.succeed(false)
      case ".help":
        return Effect.as(output.note(help), true)
      case ".load":
        return Effect.matchEffect(readFile(name), {
          onFailure: (failed) => Effect.as(this.#fail(failed), true),
          onSuccess: (text) => Effect.as(this.#evaluate(text, false), true)
        })
      default:
        return Effect.as(this.#fail(failure("usage", `There is no command ${command}: see .help`)), true)
    }
  }

  #input(source: string): Effect.Effect<void, Failure> {
    if (source.trim() === "") return Effect.void
    return this.#evaluate(source, true)
  }

  /** Evaluates an input. Ctrl-C cancels it. */
  #evaluate(source: string, mayContinue: boolean): Effect.Effect<void, Failure> {
    const { lines, output, session } = this.#options
    this.#pending = ""
    const interrupted = Effect.callback<null>((resume) => {
      lines.onInterrupt = () => resume(Effect.succeed(null))
      return Effect.sync(() => {
        lines.onInterrupt = null
      })
    })
    return Effect.matchEffect(Effect.raceFirst(session.input(source), interrupted), {
      onSuccess: (result) => (result === null ? output.note("cancelled") : this.#show(result)),
      onFailure: (failed) => {
        if (!mayContinue || !failed.message.endsWith(incomplete)) return this.#fail(failed)
        this.#pending = source
        return Effect.void
      }
    })
  }

  #show(result: ReplResult): Effect.Effect<void> {
    const { output } = this.#options
    const { paint } = output
    return Effect.gen({ self: this }, function* () {
      // The first entry is that of the request.
      for (const entry of result.logs.slice(1)) yield* output.note(entryText(entry, paint))
      if (output.json) yield* output.line(result, () => "")
      else if (result.status === "succeeded") {
        if (result.text !== "") yield* output.line(result, () => resultText(result.text, paint))
      } else {
        const error = readError(result.result)
        yield* output.note(error === null ? result.status : errorLines(error, paint).join("\n"))
      }
      if (result.status !== "succeeded") this.#failures++
      if (result.ended !== null)
        yield* output.note(
          paint.yellow(
            `The session has ended with its variables: ${printable(result.ended)}. The next input opens another.`
          )
        )
    })
  }

  #fail({ message, remedy }: Failure): Effect.Effect<void> {
    const { output } = this.#options
    this.#failures++
    return output.note(output.paint.red(printable(remedy === null ? message : `${message}: ${remedy}`)))
  }
}
