/** Prompts and progress on a simulated terminal. */
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
  /** True for a terminal, false for a pipe. */
  readonly isInteractive: boolean
  readonly json?: boolean
  /** Keys to press, in order. */
  readonly typed?: string
}

const toKey = (character: string): Terminal.UserInput => ({
  input: Option.some(character),
  key: { name: character === "\r" ? "enter" : character, ctrl: false, meta: false, shift: false }
})

/** Prompts require a file system, but these do not use it. */
const nothing = Layer.mergeAll(FileSystem.layerNoop({}), Path.layer)

/** Provides a simulated terminal that collects its output in `shown`. */
const screen = ({ stdin = "", isInteractive, json = false, typed = "" }: Screen, shown: Array<string>) => {
  const show = (text: string | Uint8Array) =>
    Effect.sync(() => {
      shown.push(text.toString())
    })
  const keep = Sink.forEach(show)
  const stdio = Stdio.layerTest({
    stdin: Stream.make(new TextEncoder().encode(stdin)),
    stdinIsTerminal: Effect.succeed(isInteractive),
    stdoutIsTerminal: Effect.succeed(isInteractive),
    stderrIsTerminal: Effect.succeed(isInteractive),
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
        yield* Queue.offerAll(keys, [...typed].map(toKey))
        return keys
      }),
      display: (text) => Effect.sync(() => shown.push(text))
    })
  )
  const capabilities = Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
    canColor: false,
    canAnimate: isInteractive,
    canPrompt: isInteractive
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

  it.effect("redraws one line during a transfer and removes it at the end", () => {
    const shown: Array<string> = []
    return Effect.gen(function* () {
      yield* uploading
      const lines = shown.map((text) => text.replace("\r\u001b[2K", ""))
      assert.isTrue(shown.every((text) => text.startsWith("\r\u001b[2K") && text.length < 85))
      assert.include(lines[1], "25%")
      assert.include(lines.at(-2), "50%  20 MB of 40 MB  5 MB/s  00:04 left")
      assert.strictEqual(lines.at(-1), "")
    }).pipe(Effect.provide(screen({ isInteractive: true }, shown)))
  })

  it.effect("prints nothing without a terminal or with --json", () => {
    const shown: Array<string> = []
    return Effect.gen(function* () {
      yield* Effect.provide(uploading, screen({ isInteractive: false }, shown))
      yield* Effect.provide(uploading, screen({ isInteractive: true, json: true }, shown))
      assert.deepStrictEqual(shown, [])
    })
  })
})

describe("the value of a secret", () => {
  it.effect("is read from a prompt that does not show it", () => {
    const shown: Array<string> = []
    return Effect.gen(function* () {
      const value = yield* readValue("TOKEN")
      assert.strictEqual(Redacted.value(value), "hunter2")
      assert.include(shown.join(""), "Value of TOKEN")
      assert.notInclude(shown.join(""), "hunter2")
      assert.notMatch(shown.join(""), /hu|te|r2/)
    }).pipe(Effect.provide(screen({ isInteractive: true, typed: "hunter2\r" }, shown)))
  })

  it.effect("is read from stdin unchanged, except for the last line end", () =>
    Effect.gen(function* () {
      const value = yield* readValue("TLS_KEY")
      assert.strictEqual(Redacted.value(value), " two\nlines\n")
    }).pipe(Effect.provide(screen({ isInteractive: false, stdin: " two\nlines\n\r\n" }, [])))
  )

  it.effect("must not be empty", () =>
    Effect.gen(function* () {
      const { code, remedy } = yield* Effect.flip(Effect.catchTag(readValue("TOKEN"), "QuitError", Effect.die))
      assert.deepStrictEqual(
        { code, remedy },
        { code: "usage", remedy: "pipe it in, or run the command in a terminal to get a prompt" }
      )
    }).pipe(Effect.provide(screen({ isInteractive: false, stdin: "\n" }, [])))
  )
})
