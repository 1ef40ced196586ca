/** What commands do where somebody looks and types, on a terminal that is none. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Option, Path, Queue, Redacted, Sink, Stdio, Stream, Terminal } from "effect"
import { TerminalCapabilities } from "effect/cli"
import { TestClock } from "effect/testing"
import { readValue } from "../../src/commands/context/Value.ts"
import { Json } from "../../src/GlobalFlags.ts"
import { Output } from "../../src/output/Output.ts"
import { progressBar } from "../../src/output/ProgressBar.ts"

interface Screen {
  readonly stdin?: string
  /** Whether somebody sits there, rather than a program. */
  readonly isWatched: boolean
  readonly json?: boolean
  /** Keys that are pressed, one after the other. */
  readonly typed?: string
}

const keyOf = (character: string): Terminal.UserInput => ({
  input: Option.some(character),
  key: { name: character === "\r" ? "enter" : character, ctrl: false, meta: false, shift: false }
})

/** Prompts may ask for files; these do not. */
const nothing = Layer.mergeAll(FileSystem.layerNoop({}), Path.layer)

/** All that is shown goes to `shown`. */
const screen = ({ stdin = "", isWatched, json = false, typed = "" }: Screen, shown: Array<string>) => {
  const show = (text: string | Uint8Array) =>
    Effect.sync(() => {
      shown.push(text.toString())
    })
  const keep = Sink.forEach(show)
  const stdio = Stdio.layerTest({
    stdin: Stream.make(new TextEncoder().encode(stdin)),
    stdinIsTerminal: Effect.succeed(isWatched),
    stdoutIsTerminal: Effect.succeed(isWatched),
    stderrIsTerminal: Effect.succeed(isWatched),
    stdout: () => keep,
    stderr: () => keep
  })
  const terminal = Layer.succeed(
    Terminal.Terminal,
    Terminal.make({
      columns: Effect.succeed(80),
      rows: Effect.succeed(24),
      size: Effect.die("unused"),
      readLine: Effect.die("unused"),
      readInput: Effect.gen(function* () {
        const keys = yield* Queue.unbounded<Terminal.UserInput, never>()
        yield* Queue.offerAll(keys, [...typed].map(keyOf))
        return keys
      }),
      display: (text) => Effect.sync(() => shown.push(text))
    })
  )
  const capabilities = Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
    canColor: false,
    canAnimate: isWatched,
    canPrompt: isWatched
  })
  const world = Layer.mergeAll(stdio, terminal, capabilities, Layer.succeed(Json, json), nothing)
  return Layer.provideMerge(Output.layer, world)
}

describe("a progress bar", () => {
  const uploading = Effect.scoped(
    Effect.gen(function* () {
      const meter = yield* progressBar("launch.mp4")
      meter.set(10e6, 40e6)
      yield* TestClock.adjust("1 second")
      meter.set(20e6, 40e6)
      yield* TestClock.adjust("1 second")
    })
  )

  it.effect("is drawn over itself while something is under way, and gone when it is over", () => {
    const shown: Array<string> = []
    return Effect.gen(function* () {
      yield* uploading
      const lines = shown.map((text) => text.replace("\r\u001b[2K", ""))
      assert.isTrue(shown.every((text) => text.startsWith("\r\u001b[2K") && text.length < 85))
      assert.include(lines[1], "25%")
      assert.include(lines.at(-2), "50%  20 MB of 40 MB  5 MB/s  00:04 left")
      assert.strictEqual(lines.at(-1), "")
    }).pipe(Effect.provide(screen({ isWatched: true }, shown)))
  })

  it.effect("is nothing where nobody looks, or a program does", () => {
    const shown: Array<string> = []
    return Effect.gen(function* () {
      yield* Effect.provide(uploading, screen({ isWatched: false }, shown))
      yield* Effect.provide(uploading, screen({ isWatched: true, json: true }, shown))
      assert.deepStrictEqual(shown, [])
    })
  })
})

describe("the value of a secret", () => {
  it.effect("is asked for, and not shown as it is typed", () => {
    const shown: Array<string> = []
    return Effect.gen(function* () {
      const value = yield* readValue("TOKEN")
      assert.strictEqual(Redacted.value(value), "hunter2")
      assert.include(shown.join(""), "Value of TOKEN")
      assert.notInclude(shown.join(""), "hunter2")
      assert.notMatch(shown.join(""), /hu|te|r2/)
    }).pipe(Effect.provide(screen({ isWatched: true, typed: "hunter2\r" }, shown)))
  })

  it.effect("comes from stdin as it is, but for the end of its last line", () =>
    Effect.gen(function* () {
      const value = yield* readValue("TLS_KEY")
      assert.strictEqual(Redacted.value(value), " two\nlines\n")
    }).pipe(Effect.provide(screen({ isWatched: false, stdin: " two\nlines\n\r\n" }, [])))
  )

  it.effect("must be there", () =>
    Effect.gen(function* () {
      const { code, remedy } = yield* Effect.flip(Effect.catchTag(readValue("TOKEN"), "QuitError", Effect.die))
      assert.deepStrictEqual(
        { code, remedy },
        { code: "usage", remedy: "pipe it in, or run it in a terminal to be asked" }
      )
    }).pipe(Effect.provide(screen({ isWatched: false, stdin: "\n" }, [])))
  )
})
